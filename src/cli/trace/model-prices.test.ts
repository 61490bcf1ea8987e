import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { agent } from "../../agents/adapters/index.ts";
import { connect } from "../../client/index.ts";
import { createServer } from "../../server/index.ts";
import { runCliInTestProcess } from "../cli-test-process.fixture.ts";

const folder = mkdtempSync(join(tmpdir(), "trace-prices-"));
const record = join(folder, "record.jsonl");
const prices = join(folder, "prices.json");

/** Creates an agent that reports one model call, and then calls another agent, if any. */
const createThinker = (name: string, model: string, next?: string): ReturnType<typeof agent> =>
  agent({ name, description: "Thinks" }, async function* ({ reportCall, text }) {
    const tokens = { inputTokens: 1_000_000, outputTokens: 100_000 };
    reportCall?.({ kind: "model", model, durationMs: 5, ...tokens });
    yield next === undefined ? text : (await (await connect(next)).ask(text)).text;
  });

beforeAll(async () => {
  const options = { store: "memory", observer: false, record } as const;
  const solver = createServer(createThinker("solver", "small"), options);
  const planner = createServer(createThinker("planner", "large-2026", (await solver.listen()).url), options);
  await (await connect((await planner.listen()).url)).ask("hello");
  await planner.close();
  await solver.close();
  writeFileSync(
    prices,
    JSON.stringify({
      currency: "USD",
      models: { "large-*": { input: 2, output: 10 }, "acme/small": { input: 0.25, output: 1 } },
    }),
  );
});

describe("colloquy trace with --prices", () => {
  it("shows the cost of each task with the tasks that it started", async () => {
    const { code, out } = await runCliInTestProcess(["trace", "show", record, "--prices", prices]);
    expect(code).toBe(0);
    const [planner, solver] = out.split("\n");
    expect(planner).toMatch(/^planner .*, 2,200,000 tokens, \$3\.3500/);
    expect(solver).toMatch(/^ {2}solver .*, 1,100,000 tokens, \$0\.3500/);
    expect((await runCliInTestProcess(["trace", "show", record])).out).not.toContain("$");
  });

  it("compares costs, and embeds them in the page", async () => {
    const tasks = JSON.parse((await runCliInTestProcess(["trace", "show", record, "--json"])).out) as {
      tasks: { id: string; agent: string }[];
    };
    const [first, second] = ["planner", "solver"].map(
      (name) => tasks.tasks.find(({ agent: of }) => of === name)?.id ?? "",
    ) as [string, string];
    const compare = ["trace", "compare", record, record, "--first-task", first, "--second-task", second];
    const { out } = await runCliInTestProcess([...compare, "--prices", prices]);
    expect(out).toMatch(/\* models .*\$3\.3500 .*\$0\.3500/);
    const html = join(folder, "record.html");
    await runCliInTestProcess(["trace", "html", record, "--out", html, "--prices", prices]);
    expect(readFileSync(html, "utf8")).toMatch(/"price":3,"currency":"USD"/);
  });

  it("explains an invalid price file", async () => {
    writeFileSync(join(folder, "broken.json"), '{"currency":"USD","models":{"m":{"input":"2"}}}');
    for (const [file, problem] of [
      ["broken.json", 'models["m"] must contain the prices'],
      ["none.json", "ENOENT"],
    ] as const) {
      const { code, err } = await runCliInTestProcess([
        "trace",
        "show",
        record,
        "--prices",
        join(folder, file),
      ]);
      expect([code, err]).toEqual([2, expect.stringContaining(problem)]);
    }
  });
});
