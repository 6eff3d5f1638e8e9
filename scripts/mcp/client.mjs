// Uses a server as the official TypeScript client does: lists, calls, fails, waits, cancels, a hundred calls at once, in both
// eras.
//
//     client.mjs stdio PROGRAM ARGUMENT…    starts the server
//     client.mjs http URL                   asks one that runs
//
// Needs npm's `@modelcontextprotocol/client` 2.4.0 in a `node_modules` above it. The server has the skills of `tests/skills/mcp`. It
// prints a line for each era; a failure is exit code 1. Each era cancels one call, which whoever started this looks for in the audit.

import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [kind, place, ...args] = process.argv.slice(2);
const ERAS = { legacy: "legacy", modern: { pin: "2026-07-28" } };

function connection() {
  if (kind === "http") return new StreamableHTTPClientTransport(new URL(place));
  return new StdioClientTransport({ command: place, args, stderr: "ignore" });
}

async function useServer(client) {
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map((tool) => tool.name).sort(), ["caller", "echo", "grower", "sleeper"]);

  const result = await client.callTool({ name: "echo", arguments: { value: { é: [1, null] } } });
  assert.deepEqual(result.structuredContent, { é: [1, null] });
  const failed = await client.callTool({ name: "echo", arguments: { problem: "so it goes" } });
  assert.ok(failed.isError && failed.content[0].text.includes("so it goes"));
  await assert.rejects(client.callTool({ name: "nothing", arguments: {} }), /unknown tool/);

  const told = [];
  const onprogress = ({ progress }) => told.push(progress);
  const slept = await client.callTool({ name: "sleeper", arguments: { seconds: 3 } }, { onprogress });
  assert.deepEqual(slept.structuredContent, { slept: 3 });
  assert.ok(told.length > 0);

  const stop = new AbortController();
  setTimeout(() => stop.abort("changed my mind"), 1000);
  await assert.rejects(client.callTool({ name: "sleeper", arguments: { seconds: 50 } }, { signal: stop.signal }));

  const calls = Array.from({ length: 100 }, (_, n) => client.callTool({ name: "echo", arguments: { value: { n } } }));
  const many = await Promise.all(calls);
  many.forEach((one, n) => assert.equal(one.structuredContent.n, n));

  const long = await client.callTool({ name: "grower", arguments: { lines: 20_000 } });
  const link = long.content.find((block) => block.type === "resource_link");
  const read = await client.readResource({ uri: link.uri });
  assert.equal(read.contents[0].text.length, 200_000);
  const prompt = await client.getPrompt({ name: "echo" });
  assert.match(prompt.messages[0].content.text, /Call it with/);
}

for (const [era, mode] of Object.entries(ERAS)) {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(connection());
  await useServer(client);
  await client.close();
  console.log(`typescript ${kind} ${era}: ok`);
}
process.exit(0);
