"""Writes what the native packages give, for `tests/behaviour/standins.rs` and `tests/tiers/second_runtime.rs` to compare with what cells give.

    pip install biopython==1.88 pycryptodome rpds-py regex==2026.11.15
    python tests/skills/standins/oracle.py
"""

import importlib.util
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
for name in ("alignments", "primitives", "expressions"):
    spec = importlib.util.spec_from_file_location("work", HERE / name / "work.py")
    module = sys.modules["work"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    parts = (f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in module.work().items())
    text = "{" + ",\n".join(parts) + "}\n"
    (HERE / name / "expected.json").write_text(text, encoding="utf-8")
