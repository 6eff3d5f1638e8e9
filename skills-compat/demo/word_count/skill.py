"""Counts words, with nothing but the standard library."""

import re
from collections import Counter

from skillware.core.base_skill import BaseSkill


class WordCount(BaseSkill):
    @property
    def manifest(self):
        return {"name": "demo/word_count", "version": "0.1.0"}

    def execute(self, params):
        words = re.findall(r"\w+", params["text"].lower())
        return {"words": len(words), "most": Counter(words).most_common(params.get("most", 3))}
