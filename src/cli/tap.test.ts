import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serveWithOfficialSdk } from "../client/a2a-js-server.fixture.ts";
import type { RunningTestServer } from "../client/a2a-client.contract.ts";
import { connect } from "../client/index.ts";
import {
  type CliTestProcess,
  createTempTestDirectoryWithFiles,
  runCliInTestProcess,
  spawnColloquyForTest,
} from "./cli-test-process.fixture.ts";

let server: RunningTestServer;
beforeAll(async () => {
  server = await serveWithOfficialSdk();
});
const processes: CliTestProcess[] = [];
afterAll(async () => {
  for (const { child } of processes) child.kill("SIGKILL");
  await server.close();
});

function startColloquy(words: readonly string[], cwd: string): CliTestProcess {
  const started = spawnColloquyForTest(words, cwd);
  processes.push(started);
  return started;
}

describe("colloquy tap and colloquy replay", () => {
  it("refuse an empty port, such as that of an unset variable", async () => {
    const { code } = await runCliInTestProcess(["tap", "--to", server.url, "--port", ""]);
    expect(code).toBe(2);
  });

  it("record an agent of another vendor, and serve the recorded agent", async () => {
    const cwd = await createTempTestDirectoryWithFiles({});
    const words = ["tap", "--to", `mine=${server.url}`, "--port", "0", "--record", "run.jsonl", "-o", "json"];
    const tap = startColloquy(words, cwd);
    const banner = await tap.waitForOutput("\n}\n");
    const { targets, control } = JSON.parse(
      banner.slice(banner.indexOf("{"), banner.lastIndexOf("}") + 1),
    ) as {
      targets: { name: string; url: string; target: string }[];
      control: { url: string; token: string };
    };
    expect(targets).toMatchObject([{ name: "mine", target: `${server.url}/` }]);
    expect(control.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/tap\/$/);
    const { text } = await (await connect(targets[0]?.url ?? "")).ask("count");
    expect(text).toBe("one two three");
    await tap.waitForOutput("mine  SendStreamingMessage  200");
    tap.child.kill("SIGINT");
    expect((await tap.result).err).not.toContain("Warning");
    expect(await readFile(join(cwd, "run.jsonl"), "utf8")).toContain(`"operation":"SendStreamingMessage"`);

    const replay = startColloquy(
      ["replay", "run.jsonl", "--port", "0", "--grpc-port", "0", "--speed", "max"],
      cwd,
    );
    const out = await replay.waitForOutput("Ctrl-C stops it.");
    const url = /^(\S+) replays mine with 1 request$/m.exec(out)?.[1] ?? "";
    expect((await (await connect(url)).ask("count")).text).toBe("one two three");
    expect(out).toMatch(/^gRPC: 127\.0\.0\.1:\d+$/m);
    expect((await (await connect(url, { binding: "GRPC" })).ask("count")).text).toBe("one two three");
    replay.child.kill("SIGINT");
    await replay.result;
  });

  it.each([
    [["--fault", "bogus"], '"bogus" has no known fault', "--fault"],
    [["--fault", "cut"], '"cut" needs after=NUMBER', "--fault"],
    [["--fault", "cut:after=x"], '"cut:after=x" needs after=NUMBER', "--fault"],
    [["--host", "0.0.0.0"], "other machines can reach", "--allow-unauthenticated"],
    [["--to", "ftp://agent"], 'has "ftp://agent"', "--to"],
    [["--record", "missing/x.jsonl"], "The record", "--record"],
  ])("the options %j are a usage error, whose hint names the option", async (options, problem, option) => {
    const cwd = await createTempTestDirectoryWithFiles({});
    const words = ["tap", "--to", "http://127.0.0.1:1", "--port", "0", "-o", "json", ...options];
    const { code, out, err } = await runCliInTestProcess(words, { cwd });
    expect(code).toBe(2);
    const { error } = JSON.parse(out + err) as { error: { code: string; message: string; hint: string } };
    expect(error.code).toBe("A2ACLI_ERR_USAGE");
    expect(error.message).toContain(problem);
    expect(error.hint).toContain(option);
  });

  it.each([
    [["tap"], "No agent is named. Pass its URL with --to."],
    [["tap", "--to", "http://127.0.0.1:1", "--fault", "explode"], "has no known fault"],
    [["tap", "--to", "http://127.0.0.1:1", "--host", "0.0.0.0"], "other machines can reach"],
    [["replay", "missing.jsonl"], "The record missing.jsonl cannot be read"],
    [["replay", "missing.jsonl", "--speed", "0"], "Pass a factor from above 0 to 1,000, or max."],
  ])("%j is refused with an explanation", async (words, explanation) => {
    const cwd = await createTempTestDirectoryWithFiles({});
    const { code, err } = await runCliInTestProcess(words, { cwd });
    expect(code).not.toBe(0);
    expect(err).toContain(explanation);
  });
});
