// A skill's own tests in Pyodide on Node.js: node run.mjs COMMON OWN ID
//
// COMMON holds Pyodide (pyodide/) and packages (site/); OWN holds the skill below skills/, its packages (site/), the plugin that
// reports, and the report. Both are mounted, not copied. This is a comparison and no boundary: a test can reach all that
// this process can, a shell included.

import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [common, own, id] = process.argv.slice(2);
const folder = join(common, "pyodide");
let pyodide;
try {
  const { loadPyodide } = await import(pathToFileURL(join(folder, "pyodide.mjs")).href);
  pyodide = await loadPyodide({
    indexURL: folder + "/",
    env: { HOME: "/home/pyodide", LANG: "C.UTF-8", SKILLCELL_TEST_REPORT: "/own/report.jsonl" },
  });
  pyodide.mountNodeFS("/common", common);
  pyodide.mountNodeFS("/own", own);
} catch (error) {
  console.error(`Pyodide does not start: ${String(error?.message ?? error).split("\n")[0]}`);
  process.exit(70);
}
pyodide.globals.set("skillcell_id", id);

const code = pyodide.runPython(`
import sys
sys.dont_write_bytecode = True
# After the standard library, as in a cell.
sys.path.insert(0, "/own")
sys.path += ["/common/site", "/own/site"]
import importlib, os
importlib.invalidate_caches()
place = "/own/skills/" + skillcell_id
os.chdir("/own")
import pytest
int(pytest.main([
    "-q", "-p", "skillcell_report", "-p", "no:cacheprovider", "-p", "no:faulthandler",
    # The packages are there without their entry points.
    "-p", "pytest_mock", "-p", "pytest_asyncio.plugin",
    "--import-mode=prepend", "--rootdir=" + place, "--confcutdir=/own", place,
]))
`);
process.exit(code);
