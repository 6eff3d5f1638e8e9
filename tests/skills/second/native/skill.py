from pydantic import BaseModel, Field, ValidationError
from skillware.core.base_skill import BaseSkill


class User(BaseModel):
    id: int
    name: str = Field(max_length=5)


class Native(BaseSkill):
    manifest = {}

    def execute(self, params):
        import pydantic_core._pydantic_core as core

        try:
            user = User.model_validate(params)
        except ValidationError as error:
            return {"errors": [one["type"] for one in error.errors()], "file": core.__file__.rsplit(".", 1)[-1]}
        return user.model_dump()
