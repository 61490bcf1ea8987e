#!/usr/bin/env node
// Plain syntax that any Node understands, so that one that is too old can say so.
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 13)) {
  console.error(`error: colloquy needs Node 22.13 or newer; this is ${process.version}.`);
  process.exit(1);
}
const { processContext, run } = await import("../dist/cli/main.js");
const context = processContext();
process.exitCode = await run(process.argv.slice(2), context);
// Who has said stop waits for nothing that an agent has left open, such as a timer or the process of a tool.
if (context.interrupted.aborted) setTimeout(() => process.exit(), 200).unref();
