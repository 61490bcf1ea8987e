import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { load, CORE_SCHEMA } from "js-yaml";
import { afterAll, describe, expect, it, vi } from "vitest";
import { agent, inputRequired } from "../../agents/adapters/index.ts";
import { connect } from "../../client/index.ts";
import { createServer, type Server } from "../../server/index.ts";
import { createTempTestDirectoryWithFiles, runCliInTestProcess } from "../cli-test-process.fixture.ts";

/** An agent file without imports, which the command loads from a temporary directory. */
const REFUNDS = `export default {
  describe: () => ({ name: "refunds", description: "Refunds" }),
  async *execute({ message, task, reportCall }) {
    const text = message.parts[0].text;
    const euros = Number(/\\d+/.exec(text)?.[0] ?? 0);
    reportCall?.({ kind: "tool", tool: "findOrder", arguments: { euros }, durationMs: 5 });
    if (euros === 13) throw new Error("unlucky");
    const parts = [{ text: euros > 50 && task.history.length === 1 ? "Really?" : "The money is on its way." }];
    const state = parts[0].text === "Really?" ? "TASK_STATE_INPUT_REQUIRED" : "TASK_STATE_COMPLETED";
    yield { status: { state, message: { parts } } };
  },
};
`;

const TESTS = `
agent: ./refunds.mjs
tests:
  - name: asks before a large refund
    turns:
      - send: Refund 80 euros
        expect:
          state: input-required
          question: { matches: "^Really" }
          calls: [{ tool: findOrder, arguments: { euros: 80 } }]
      - send: "yes"
        expect:
          state: completed
          text: { contains: [money, on its way], similarTo: Money is on the way }
          artifacts: []
`;

const FAILING = `
agent: ./refunds.mjs
tests:
  - name: is unlucky & "quoted"
    turns:
      - send: Refund 13 euros
        expect: { state: completed, calls: [], text: { contains: lucky, minSimilarity: 0.9, similarTo: a b } }
      - send: never sent
`;

const servers: Server[] = [];
afterAll(() => Promise.all(servers.map((server) => server.close())));

describe("colloquy test", () => {
  it("passes if each turn is as expected, and writes JUnit", async () => {
    const cwd = await createTempTestDirectoryWithFiles({ "refunds.mjs": REFUNDS, "a.yaml": TESTS });
    const words = ["test", "a.yaml", "--repeat", "2", "--junit", "report.xml"];
    const { code, out, err } = await runCliInTestProcess(words, { cwd });
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out.replaceAll(/\d+ ms/g, "N ms")).toBe(`a.yaml
  ok      asks before a large refund (trial 1) (N ms)
  ok      asks before a large refund (trial 2) (N ms)
2 passed, 0 failed
`);
    const report = await readFile(join(cwd, "report.xml"), "utf8");
    expect(report).toContain('<testsuite name="a.yaml" tests="2" failures="0"');
  });

  it("loads the agent of a test file with an absolute path", async () => {
    const cwd = await createTempTestDirectoryWithFiles({ "refunds.mjs": REFUNDS, "a.yaml": TESTS });
    const absolute = TESTS.replace("./refunds.mjs", join(cwd, "refunds.mjs"));
    await writeFile(join(cwd, "a.yaml"), absolute);
    const { code, err } = await runCliInTestProcess(["test", "a.yaml"], { cwd });
    expect({ code, err }).toEqual({ code: 0, err: "" });
  });

  it("cuts the connection and kills the server of a turn with a fault", async () => {
    const faults = TESTS.replace("- send: Refund 80 euros", "$&\n        fault: { cut: 1 }").replace(
      '- send: "yes"',
      "$&\n        fault: { kill: 0 }",
    );
    const cwd = await createTempTestDirectoryWithFiles({ "refunds.mjs": REFUNDS, "a.yaml": faults });
    const { code, out, err } = await runCliInTestProcess(["test", "a.yaml"], { cwd });
    expect({ code, err, out }).toMatchObject({ code: 0, err: "" });
    for (const [change, message] of [
      ["{ cut: 50 }", "cutNext(50): the stream of the message ended before the fault."],
      ["{ cut: 1, kill: 1 }", "either cut or kill with a number of events"],
      ["{ freeze: 1 }", 'has no member "freeze"'],
    ] as const) {
      await writeFile(join(cwd, "a.yaml"), faults.replace("{ cut: 1 }", change));
      const failed = await runCliInTestProcess(["test", "a.yaml"], { cwd });
      expect(failed.code).not.toBe(0);
      expect(failed.out + failed.err).toContain(message);
    }
  });

  it("fails with all differences of the first unexpected turn and the conversation", async () => {
    const cwd = await createTempTestDirectoryWithFiles({ "refunds.mjs": REFUNDS, "b.yaml": FAILING });
    const { code, out } = await runCliInTestProcess(["test", "b.yaml", "--junit", "report.xml"], { cwd });
    expect(code).toBe(1);
    expect(out).toContain("FAILED  is unlucky");
    expect(out).toContain("turn 1: The state is failed, expected completed. The agent threw Error: unlucky");
    expect(out).toContain('expected: none\n            actual:   findOrder({"euros":13})');
    expect(out).toContain('which does not contain "lucky"');
    expect(out).toContain('similar to "a b" by 0.00, expected 0.9');
    expect(out).toContain("user: Refund 13 euros");
    expect(out).not.toContain("never sent");
    const report = await readFile(join(cwd, "report.xml"), "utf8");
    expect(report).toContain('name="is unlucky &amp; &quot;quoted&quot;"');
    expect(report).toContain("<failure message=");
    const json = await runCliInTestProcess(["test", "b.yaml", "-o", "json"], { cwd });
    expect(JSON.parse(json.out)).toMatchObject({ passed: 0, failed: 1, tests: [{ file: "b.yaml" }] });
  });

  it("reports the earlier results if an agent is unreachable", async () => {
    const other = TESTS.replace("./refunds.mjs", "./missing.mjs");
    const cwd = await createTempTestDirectoryWithFiles({
      "refunds.mjs": REFUNDS,
      "a.yaml": TESTS,
      "b.yaml": other,
    });
    const words = ["test", "a.yaml", "b.yaml", "--junit", "report.xml", "--insecure"];
    const { code, err } = await runCliInTestProcess(words, { cwd });
    expect(code).toBe(2);
    expect(err).toContain("missing.mjs");
    expect(err).toContain("--insecure: certificates are not verified");
    expect(await readFile(join(cwd, "report.xml"), "utf8")).toContain('<testsuite name="a.yaml" tests="1"');
  });

  it("tests an agent behind a URL", async () => {
    const shop = agent({ name: "shop", description: "Sells" }, async function* ({ text, history }) {
      if (history.length === 1) yield inputRequired("Which size?");
      yield `Size ${text}.`;
    });
    const server = createServer(shop, { store: "memory" });
    servers.push(server);
    const { url } = await server.listen({ port: 0 });
    const cwd = await createTempTestDirectoryWithFiles({
      "shop.json": JSON.stringify({
        tests: [
          {
            name: "sizes",
            turns: [
              { send: "A shirt", expect: { state: "input-required", question: "Which size?" } },
              { send: [{ text: "L" }], expect: { text: "Size L." } },
            ],
          },
          { name: "tokens", turns: [{ send: "A shirt", expect: { maxTokens: 5, calls: ["pay"] } }] },
        ],
      }),
    });
    const { code, out } = await runCliInTestProcess(["test", "shop.json", "--url", url], { cwd });
    expect(code).toBe(1);
    expect(out).toContain("ok      sizes");
    expect(out).toContain("The number of tokens is unknown");
    expect(out).toContain("The calls of this agent behind a URL are unknown");
  });

  it.each(["server", "client"])(
    "writes the conversations in the record of a %s as tests",
    async (vantage) => {
      const cwd = await createTempTestDirectoryWithFiles({ "refunds.mjs": REFUNDS });
      const record = join(cwd, "traffic.jsonl");
      const refunds = ((await import(join(cwd, "refunds.mjs"))) as { default: never }).default;
      const server = createServer(refunds, {
        store: "memory",
        ...(vantage === "server" ? { record: { file: record } } : {}),
      });
      const { url } = await server.listen({ port: 0 });
      const client = await connect(url, vantage === "client" ? { record: { file: record } } : {});
      const asked = await client.send("Refund 80 euros");
      const task = "task" in asked ? asked.task : undefined;
      await client.send("yes", { taskId: task?.id, contextId: task?.contextId });
      await client.send("Refund 13 euros");
      for await (const _ of client.stream("Refund 7 euros"));
      await server.close();
      await vi.waitFor(async () => expect(await readFile(record, "utf8")).toContain('"kind":"stream-end"'), {
        timeout: 10_000,
      });

      const written = await runCliInTestProcess(["test", "traffic.jsonl", "--write", "all.yaml"], { cwd });
      expect(written).toMatchObject({ code: 0, out: "all.yaml: 3 conversations\n" });
      const content = load(await readFile(join(cwd, "all.yaml"), "utf8"), { schema: CORE_SCHEMA });
      const call = (euros: number): object =>
        vantage === "server" ? { calls: [{ tool: "findOrder", arguments: { euros } }] } : {};
      expect(content).toEqual({
        tests: [
          {
            name: "conversation 1",
            turns: [
              {
                send: "Refund 80 euros",
                expect: { state: "input-required", question: "Really?", ...call(80) },
              },
              { send: "yes", expect: { state: "completed", text: "The money is on its way.", ...call(0) } },
            ],
          },
          {
            name: "conversation 2",
            turns: [{ send: "Refund 13 euros", expect: { state: "failed", ...call(13) } }],
          },
          {
            name: "conversation 3",
            turns: [
              {
                send: "Refund 7 euros",
                expect: { state: "completed", text: "The money is on its way.", ...call(7) },
              },
            ],
          },
        ],
      });
      const again = await runCliInTestProcess(["test", "all.yaml", "--agent", "refunds.mjs"], { cwd });
      expect(again).toMatchObject({ code: 0, err: "" });
      // The command never replaces a file, because the user may have edited it.
      await writeFile(join(cwd, "all.yaml"), "edited");
      expect(
        await runCliInTestProcess(["test", "traffic.jsonl", "--write", "all.yaml"], { cwd }),
      ).not.toMatchObject({
        code: 0,
      });
      expect(await readFile(join(cwd, "all.yaml"), "utf8")).toBe("edited");
    },
  );

  it.each(["server", "client"])(
    "leaves out the turns that the record of a %s has shortened",
    async (vantage) => {
      const cwd = await createTempTestDirectoryWithFiles({});
      const file = join(cwd, "traffic.jsonl");
      const repeat = agent({ name: "repeat", description: "Repeats" }, async function* ({ text }) {
        yield "y".repeat(Number.parseInt(text, 10));
      });
      const record = { file, maxBodyLength: 2_000 };
      const server = createServer(repeat, { store: "memory", ...(vantage === "server" ? { record } : {}) });
      const { url } = await server.listen({ port: 0 });
      const client = await connect(url, vantage === "client" ? { record } : {});
      await client.send("9000");
      await client.send(`2${"!".repeat(9000)}`);
      for await (const _ of client.stream("9001"));
      for await (const _ of client.stream("3"));
      await server.close();
      await vi.waitFor(async () => expect(await readFile(file, "utf8")).toContain('"kind":"stream-end"'), {
        timeout: 10_000,
      });

      const written = await runCliInTestProcess(["test", "traffic.jsonl", "--write", "all.yaml"], { cwd });
      expect(written).toMatchObject({ code: 0, out: "all.yaml: 1 conversations\n" });
      expect(load(await readFile(join(cwd, "all.yaml"), "utf8"), { schema: CORE_SCHEMA })).toMatchObject({
        tests: [{ turns: [{ send: "3", expect: { text: "yyy" } }] }],
      });
    },
  );

  it("runs an eval set of ADK with its test_config.json", async () => {
    const cwd = await createTempTestDirectoryWithFiles({
      "refunds.mjs": REFUNDS,
      "test_config.json": JSON.stringify({ criteria: { response_match_score: 0.5 } }),
      "refunds.evalset.json": JSON.stringify({
        eval_set_id: "refunds",
        eval_cases: [
          {
            eval_id: "small",
            conversation: [
              {
                user_content: { parts: [{ text: "Refund 7 euros" }] },
                final_response: { parts: [{ text: "The money is on its way" }] },
              },
            ],
          },
        ],
      }),
    });
    const words = ["test", "refunds.evalset.json", "--agent", "refunds.mjs"];
    const { code, out } = await runCliInTestProcess(words, { cwd });
    expect(code).toBe(0);
    expect(out).toContain("response_match_score 1.000)");
  });

  it.each([
    [
      "tests: [{ name: a, turns: [{ send: hi, expect: { txt: hi } }] }]",
      "tests[0].turns[0].expect has no member",
    ],
    ["tests: [{ name: a, turns: [{}] }]", "tests[0].turns[0].send is missing"],
    ["tests: [{ name: a, turns: [{ send: [] }] }]", "a list with at least one entry"],
    [
      "tests: [{ name: a, turns: [{ send: hi, expect: { order: random } }] }]",
      "exact, in-order, or any-order",
    ],
    [
      "tests: [{ name: a, turns: [{ send: hi, expect: { text: { matches: '(' } } }] }]",
      "is no regular expression",
    ],
    ["tests: []", "tests is []; write a list with at least one entry"],
    ["tests: [", "unexpected end of the stream"],
    [
      `tests: [{ name: [&a [x], ${Array.from({ length: 12 }, (_, at) => `&b${at} [${`*${at === 0 ? "a" : `b${at - 1}`},`.repeat(9)}]`).join()}] }]`,
      "aliases make the content too long",
    ],
  ])("refuses the file %j with the member", async (text, message) => {
    const cwd = await createTempTestDirectoryWithFiles({ "a.yaml": text });
    const { code, err } = await runCliInTestProcess(["test", "a.yaml", "--junit", "report.xml"], { cwd });
    expect(code).toBe(2);
    expect(err).toContain(message);
    expect(existsSync(join(cwd, "report.xml"))).toBe(false);
  });

  it("says which agent to pass", async () => {
    const cwd = await createTempTestDirectoryWithFiles({
      "a.yaml": "tests: [{ name: a, turns: [{ send: hi }] }]",
      "refunds.mjs": REFUNDS,
    });
    const without = await runCliInTestProcess(["test", "a.yaml"], { cwd });
    expect(without.err).toContain("Pass --url or --agent, or add the member agent or url.");
    const both = await runCliInTestProcess(["test", "a.yaml", "--agent", "refunds.mjs", "--url", "b"], {
      cwd,
    });
    expect(both.err).toContain("Pass --url or --agent, not both.");
    const count = await runCliInTestProcess(["test", "a.yaml", "--repeat", "0"], { cwd });
    expect(count.err).toContain("Pass a whole number from 1 to 1000.");
  });

  it("sends no credential to a URL that only a test file names", async () => {
    const cwd = await createTempTestDirectoryWithFiles({
      "a.yaml": "url: http://127.0.0.1:1/\ntests: [{ name: a, turns: [{ send: hi }] }]",
    });
    const env = { HOME: "/nowhere", A2ACLI_BEARER: "secret" };
    const { code, err } = await runCliInTestProcess(["test", "a.yaml"], { cwd, env });
    expect(code).toBe(2);
    expect(err).toContain("A2ACLI_BEARER of the environment is not sent to http://127.0.0.1:1/");
    expect(err).toContain("pass --url http://127.0.0.1:1/");
    expect(err).not.toContain("secret");
    const named = await runCliInTestProcess(["test", "a.yaml", "--url", "http://127.0.0.1:1/"], { cwd, env });
    expect(named.code).toBe(3);
  });

  it("prefers the agent of the command line to the agent of the file", async () => {
    const cwd = await createTempTestDirectoryWithFiles({
      "refunds.mjs": REFUNDS,
      "a.yaml": TESTS,
      "b.yaml": TESTS.replace("agent: ./refunds.mjs", "url: http://127.0.0.1:2/"),
    });
    for (const file of ["a.yaml", "b.yaml"]) {
      const { err } = await runCliInTestProcess(["test", file, "-a", "http://127.0.0.1:1/"], { cwd });
      expect(err).toContain("127.0.0.1:1");
    }
  });

  it("reports a conversation that exceeds --timeout as failed", async () => {
    const cwd = await createTempTestDirectoryWithFiles({
      "slow.mjs": `export default {
        describe: () => ({ name: "slow", description: "Slow" }),
        async *execute({ signal }) {
          await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
        },
      };`,
      "a.yaml": "agent: ./slow.mjs\ntests: [{ name: waits, turns: [{ send: hi }] }]",
    });
    const words = ["test", "a.yaml", "--timeout", "200ms", "--junit", "report.xml"];
    const { code, out } = await runCliInTestProcess(words, { cwd });
    expect(code).toBe(1);
    expect(out).toContain("FAILED  waits");
    expect(out).toContain("The time limit of --timeout expired.");
    expect(await readFile(join(cwd, "report.xml"), "utf8")).toContain('failures="1"');
  });
});
