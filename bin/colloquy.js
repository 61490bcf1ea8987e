#!/usr/bin/env node
// Written in syntax that every Node version parses, so that an outdated version prints this error.
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  console.error(
    `error: colloquy needs Node 22.18 or newer; this is ${process.version}. Install Node 24: https://nodejs.org`,
  );
  process.exit(1);
}
const { createProcessContext, runCli } = await import("../dist/cli/main.js");
const context = createProcessContext();
process.exitCode = await runCli(process.argv.slice(2), context);
// The process does not wait for what an agent file left open, such as a timer, a server, or a tool process.
// The callback of `write` runs after all earlier output has been written.
setTimeout(() => process.stdout.write("", () => process.exit()), 200).unref();
