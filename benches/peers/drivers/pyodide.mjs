// Pyodide on Node: a new interpreter for each program ("fresh"), or one for all ("kept"). The lines are those of driving.py;
// there is one thread.
import { createInterface } from "node:readline";
import { loadPyodide } from "pyodide";

const keep = process.argv[2] === "kept";
let kept = null;

async function call(text) {
  const python = kept ?? (await loadPyodide());
  if (keep) kept = python;
  let printed = "";
  python.setStdout({ batched: (line) => (printed += line + "\n") });
  await python.runPythonAsync(text, { globals: python.toPy({ __name__: "__main__" }) });
  return printed;
}

for await (const line of createInterface({ input: process.stdin })) {
  const { work, calls, threads } = JSON.parse(line);
  let answer;
  try {
    if (threads > 1) throw new Error("one thread");
    const ms = [];
    let printed;
    const began = performance.now();
    for (let i = 0; i < calls; i++) {
      const started = performance.now();
      printed = await call(work.text);
      ms.push(performance.now() - started);
    }
    answer = { ms, seconds: (performance.now() - began) / 1e3, printed };
  } catch (error) {
    answer = { failed: String(error).slice(-300) };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
