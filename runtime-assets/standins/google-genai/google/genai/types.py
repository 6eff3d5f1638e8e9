"""The models of requests and answers."""

import json

from ._model import CaseInSensitiveEnum, Model


def _enum(name, values):
    return CaseInSensitiveEnum(name, {value: value for value in values.split()}, module=__name__)


def _model(name, fields="", **typed):
    return type(name, (Model,), {"FIELDS": {**dict.fromkeys(fields.split()), **typed}, "__module__": __name__})


FinishReason = _enum(
    "FinishReason",
    "FINISH_REASON_UNSPECIFIED STOP MAX_TOKENS SAFETY RECITATION LANGUAGE OTHER BLOCKLIST PROHIBITED_CONTENT SPII "
    "MALFORMED_FUNCTION_CALL IMAGE_SAFETY UNEXPECTED_TOOL_CALL TOO_MANY_TOOL_CALLS MALFORMED_RESPONSE",
)
HarmCategory = _enum(
    "HarmCategory",
    "HARM_CATEGORY_UNSPECIFIED HARM_CATEGORY_HARASSMENT HARM_CATEGORY_HATE_SPEECH HARM_CATEGORY_SEXUALLY_EXPLICIT "
    "HARM_CATEGORY_DANGEROUS_CONTENT HARM_CATEGORY_CIVIC_INTEGRITY",
)
HarmBlockThreshold = _enum(
    "HarmBlockThreshold",
    "HARM_BLOCK_THRESHOLD_UNSPECIFIED BLOCK_LOW_AND_ABOVE BLOCK_MEDIUM_AND_ABOVE BLOCK_ONLY_HIGH BLOCK_NONE OFF",
)
HarmProbability = _enum("HarmProbability", "HARM_PROBABILITY_UNSPECIFIED NEGLIGIBLE LOW MEDIUM HIGH")
BlockedReason = _enum("BlockedReason", "BLOCKED_REASON_UNSPECIFIED SAFETY OTHER BLOCKLIST PROHIBITED_CONTENT")
Type = _enum("Type", "TYPE_UNSPECIFIED STRING NUMBER INTEGER BOOLEAN ARRAY OBJECT NULL")
FunctionCallingConfigMode = _enum("FunctionCallingConfigMode", "MODE_UNSPECIFIED AUTO ANY NONE VALIDATED")

Blob = _model("Blob", "display_name mime_type", data=bytes)
FileData = _model("FileData", "display_name file_uri mime_type")
FunctionCall = _model("FunctionCall", "id args name")
FunctionResponse = _model("FunctionResponse", "id name response")
ExecutableCode = _model("ExecutableCode", "id code language")
CodeExecutionResult = _model("CodeExecutionResult", "id outcome output")


class Part(Model):
    """A piece of a message: text, data, a call or its result."""

    FIELDS = {
        "text": None,
        "thought": None,
        "thought_signature": bytes,
        "video_metadata": None,
        "inline_data": Blob,
        "file_data": FileData,
        "function_call": FunctionCall,
        "function_response": FunctionResponse,
        "executable_code": ExecutableCode,
        "code_execution_result": CodeExecutionResult,
    }

    @classmethod
    def from_text(cls, *, text):
        return cls(text=text)

    @classmethod
    def from_bytes(cls, *, data, mime_type):
        return cls(inline_data=Blob(data=data, mime_type=mime_type))

    @classmethod
    def from_uri(cls, *, file_uri, mime_type=None):
        return cls(file_data=FileData(file_uri=file_uri, mime_type=mime_type))

    @classmethod
    def from_function_call(cls, *, name, args):
        return cls(function_call=FunctionCall(name=name, args=args))

    @classmethod
    def from_function_response(cls, *, name, response):
        return cls(function_response=FunctionResponse(name=name, response=response))


Content = _model("Content", "role", parts=Part)


class UserContent(Content):
    """A message of the user."""

    def __init__(self, parts, **_):
        super().__init__(role="user", parts=to_parts(parts))


class ModelContent(Content):
    """A message of the model."""

    def __init__(self, parts, **_):
        super().__init__(role="model", parts=to_parts(parts))


class Schema(Model):
    """What the model's answer, or a function's arguments, look like."""

    FIELDS = dict.fromkeys(
        "additional_properties any_of default defs description enum example format max_items max_length "
        "max_properties maximum min_items min_length min_properties minimum nullable pattern properties "
        "property_ordering ref required title".split()
    )


Schema.FIELDS.update(items=Schema, type=Type)
FunctionDeclaration = _model(
    "FunctionDeclaration", "name description parameters_json_schema response_json_schema", parameters=Schema, response=Schema
)
GoogleSearch = _model("GoogleSearch", "search_types blocking_confidence exclude_domains time_range_filter")
ToolCodeExecution = _model("ToolCodeExecution")
UrlContext = _model("UrlContext")
Tool = _model(
    "Tool",
    "google_search_retrieval",
    function_declarations=FunctionDeclaration,
    google_search=GoogleSearch,
    code_execution=ToolCodeExecution,
    url_context=UrlContext,
)
FunctionCallingConfig = _model("FunctionCallingConfig", "allowed_function_names", mode=FunctionCallingConfigMode)
ToolConfig = _model("ToolConfig", "retrieval_config", function_calling_config=FunctionCallingConfig)
SafetySetting = _model("SafetySetting", "method", category=HarmCategory, threshold=HarmBlockThreshold)
ThinkingConfig = _model("ThinkingConfig", "include_thoughts thinking_budget thinking_level")
AutomaticFunctionCallingConfig = _model(
    "AutomaticFunctionCallingConfig", "disable maximum_remote_calls ignore_call_history"
)
HttpRetryOptions = _model("HttpRetryOptions", "attempts initial_delay max_delay exp_base jitter http_status_codes")
HttpOptions = _model("HttpOptions", "base_url api_version headers timeout extra_body", retry_options=HttpRetryOptions)

# Fields of the configuration that are of the request itself, not of its `generationConfig`.
OF_REQUEST = ("system_instruction", "safety_settings", "tools", "tool_config", "cached_content", "labels")
OF_CLIENT = ("http_options", "should_return_http_response", "automatic_function_calling")
GenerateContentConfig = _model(
    "GenerateContentConfig",
    "system_instruction cached_content labels should_return_http_response temperature top_p top_k candidate_count "
    "max_output_tokens stop_sequences response_logprobs logprobs presence_penalty frequency_penalty seed "
    "response_mime_type response_schema response_json_schema response_modalities media_resolution speech_config "
    "audio_timestamp",
    http_options=HttpOptions,
    safety_settings=SafetySetting,
    tools=Tool,
    tool_config=ToolConfig,
    automatic_function_calling=AutomaticFunctionCallingConfig,
    thinking_config=ThinkingConfig,
)
CountTokensConfig = _model("CountTokensConfig", http_options=HttpOptions)
EmbedContentConfig = _model("EmbedContentConfig", "task_type title output_dimensionality", http_options=HttpOptions)

SafetyRating = _model("SafetyRating", "blocked", category=HarmCategory, probability=HarmProbability)
Citation = _model("Citation", "end_index license publication_date start_index title uri")
CitationMetadata = _model("CitationMetadata", citations=Citation)
Candidate = _model(
    "Candidate",
    "finish_message token_count avg_logprobs index logprobs_result grounding_metadata url_context_metadata",
    content=Content,
    citation_metadata=CitationMetadata,
    finish_reason=FinishReason,
    safety_ratings=SafetyRating,
)
GenerateContentResponsePromptFeedback = _model(
    "GenerateContentResponsePromptFeedback", "block_reason_message", block_reason=BlockedReason, safety_ratings=SafetyRating
)
GenerateContentResponseUsageMetadata = _model(
    "GenerateContentResponseUsageMetadata",
    "cached_content_token_count candidates_token_count candidates_tokens_details prompt_token_count "
    "prompt_tokens_details thoughts_token_count tool_use_prompt_token_count total_token_count traffic_type",
)


class GenerateContentResponse(Model):
    """An answer of the model."""

    FIELDS = {
        "candidates": Candidate,
        "create_time": None,
        "model_version": None,
        "response_id": None,
        "prompt_feedback": GenerateContentResponsePromptFeedback,
        "usage_metadata": GenerateContentResponseUsageMetadata,
        "parsed": None,
    }

    @property
    def parts(self):
        content = self.candidates[0].content if self.candidates else None
        return content.parts if content else None

    @property
    def text(self):
        """The text of the first candidate, without thoughts; `None` if it has none."""
        texts = [part.text for part in self.parts or [] if part.text is not None and not part.thought]
        return "".join(texts) if texts else None

    @property
    def function_calls(self):
        return [part.function_call for part in self.parts or [] if part.function_call] or None


CountTokensResponse = _model("CountTokensResponse", "total_tokens cached_content_token_count")
ContentEmbedding = _model("ContentEmbedding", "values")
EmbedContentResponse = _model("EmbedContentResponse", embeddings=ContentEmbedding)
ModelInfo = _model(
    "Model",
    "name display_name description version input_token_limit output_token_limit supported_generation_methods "
    "temperature max_temperature top_p top_k thinking",
)


def to_parts(value):
    """What a caller may give for parts: a text, a part, a dictionary, or a list of those."""
    if isinstance(value, (list, tuple)):
        return [part for item in value for part in to_parts(item)]
    if isinstance(value, str):
        return [Part(text=value)]
    return [Part.model_validate(value)]


def to_contents(value):
    """What a caller may give for contents: a message, or a list of messages and of parts of the user."""
    contents, parts = [], []
    for item in value if isinstance(value, (list, tuple)) else [value]:
        if isinstance(item, Content) or isinstance(item, dict) and "parts" in item:
            if parts:
                contents.append(Content(role="user", parts=parts))
                parts = []
            contents.append(Content.model_validate(item))
        else:
            parts += to_parts(item)
    if parts:
        contents.append(Content(role="user", parts=parts))
    if not contents:
        raise ValueError("contents are required.")
    return contents


def parse(response, schema):
    """`parsed`: the answer as JSON, as the schema's own class if it has one."""
    if schema is None or not response.text:
        return
    try:
        if hasattr(schema, "model_validate_json"):
            response.parsed = schema.model_validate_json(response.text)
        else:
            response.parsed = json.loads(response.text)
    except ValueError:
        pass
