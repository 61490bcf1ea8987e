import { describe, expect, it } from "vitest";
import { Cli, colloquy, directoryWith, serving } from "../src/cli/process.contract.ts";
import { fileURLToPath } from "node:url";

const example = (name: string): string => fileURLToPath(new URL(`../examples/${name}`, import.meta.url));

describe("the examples", () => {
  it.each([
    ["01-hello.ts", "hello", "Ada", "Hello, Ada! Nice to meet you."],
    ["02-adk-agent.ts", "adk-agent", "What is the weather in Seoul?", "It is sunny in Seoul, 21 °C."],
  ])("%s can be served", async (file, id, text, answer) => {
    const cwd = await directoryWith({});
    const server = await serving(["serve", example(file), "--store", "memory"], cwd);
    try {
      const { out } = await colloquy(["send", server.agents[id] as string, text], cwd).ended;
      expect(out).toContain(`${answer}\n`);
    } finally {
      server.cli.child.kill("SIGKILL");
    }
  });

  it.each([
    ["03-streaming-client.ts", /^1 2 3 (\d+ )+29 30 \nCut [1-9]\d* times\.\n$/],
    ["05-extension.ts", /^\[\{[^\n]*veni, vidi[^\n]*\}\]\n[^\n]*veni, vidi[^\n]*"tense":"perfect"[^\n]*\n$/],
    [
      "06-signed-card.ts",
      /^The card of bank holds\.\nThe card of "bank" is signed by nobody who is trusted: /,
    ],
    [
      "07-authentication.ts",
      /^The card asks for: apiKey or bearer\n[^]*Noted for ada: a secret[^]*Bob sees 0 tasks\.\nTask \S+ was not found[^\n]*\n[^\n]*not authenticated[^\n]*\n$/,
    ],
    ["04-no-socket.ts", /INPUT_REQUIRED[^]*Which size\?[^]*COMPLETED[^]*Here is your large cake\./],
  ])("%s runs", async (file, output) => {
    const cwd = await directoryWith({});
    const { code, out } = await new Cli(process.execPath, [example(file)], cwd).ended;
    expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(output) as string });
  });
});
