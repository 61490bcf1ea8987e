import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isWindows } from "../../test/support/is-windows.ts";
import { createTempTestDirectoryWithFiles, spawnColloquyForTest } from "./cli-test-process.fixture.ts";
import { isLocalPath } from "./is-local-path.ts";

describe("a reference to an agent", () => {
  it.each([
    "./agent.example",
    "../a/b.json",
    "/tmp/card",
    "C:\\cards\\a.json",
    "card.json",
    "cards/a.json",
    "agents",
    ".",
  ])("%s is a path", (ref) => {
    expect(isLocalPath(ref, /\.json$/)).toBe(true);
  });

  it.each([
    "agent.example.com",
    "agent.example.com/.well-known/agent-card.json",
    "localhost",
    "LOCALHOST/card.json",
    "localhost:4120/card.json",
    "[::1]",
    "agent.ts",
  ])("%s is a host", (ref) => {
    expect(isLocalPath(ref, /\.json$/)).toBe(false);
  });

  it.skipIf(isWindows)("that begins with the drive of a Windows path is a path, and no URL", async () => {
    const card = { name: "local", supportedInterfaces: [] };
    const path = "C:\\card.json";
    const cwd = await createTempTestDirectoryWithFiles({ [path]: JSON.stringify(card) });
    const { out } = await spawnColloquyForTest(["card", "get", path, "-o", "json"], cwd).result;
    expect(out).toContain('"local"');
  });

  it("that is a host never selects a file or the code of a folder with the same name [SEC-53]", async () => {
    const card = { name: "evil", description: "evil" };
    const cwd = await createTempTestDirectoryWithFiles({ "agent.invalid": JSON.stringify(card) });
    const got = await spawnColloquyForTest(["card", "get", "agent.invalid"], cwd).result;
    expect([got.code, got.out + got.err]).toEqual([3, expect.not.stringContaining("evil") as string]);
    await mkdir(join(cwd, "agents.invalid"));
    await writeFile(join(cwd, "agents.invalid/agent.ts"), `console.error("evil code runs");`);
    const served = await spawnColloquyForTest(["mcp", "agents.invalid"], cwd).result;
    expect(served.code).not.toBe(0);
    expect(served.out + served.err).not.toContain("evil code runs");
  });
});
