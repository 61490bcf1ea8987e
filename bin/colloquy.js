#!/usr/bin/env node
// Written in syntax that every Node version parses, so that an outdated version prints this error.
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 13)) {
  console.error(`error: colloquy needs Node 22.13 or newer; this is ${process.version}.`);
  process.exit(1);
}
const { createProcessContext, runCli } = await import("../dist/cli/main.js");
const context = createProcessContext();
process.exitCode = await runCli(process.argv.slice(2), context);
// After Ctrl-C, the process does not wait for what agents left open, such as a timer or a tool process.
if (context.interruptSignal.aborted) setTimeout(() => process.exit(), 200).unref();
