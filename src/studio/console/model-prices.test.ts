import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { agent } from "../../agents/adapters/index.ts";
import { decodeModelPrices, type ModelLine, type TrafficLine } from "../../observe/trace/index.ts";
import { openTrafficRecord } from "../../observe/trace/recording/index.ts";
import { ConsoleTestServer, findTestTaskId } from "./console.fixture.ts";

const prices = decodeModelPrices({ currency: "EUR", models: { "large-*": { input: 2, output: 10 } } });

const thinker = agent({ name: "thinker", description: "Thinks" }, async function* ({ reportCall, text }) {
  const tokens = { inputTokens: 1_000, outputTokens: 100 };
  reportCall?.({ kind: "model", model: "large-1", durationMs: 5, ...tokens });
  yield text;
});

const findModelLines = (lines: readonly TrafficLine[]): ModelLine[] =>
  lines.flatMap((line) => (line.kind === "model" ? [line] : []));

it("a console with prices shows the price of a model call, in live lines and in a record", async () => {
  const record = join(mkdtempSync(join(tmpdir(), "prices-")), "record.jsonl");
  const { writer, close } = openTrafficRecord(record, { vantage: "server", name: "test" });
  const live = await ConsoleTestServer.start(
    { thinker },
    { record: writer },
    { prices, serverRecord: writer },
  );
  onTestFinished(() => live.close());
  const taskId = findTestTaskId(await live.send("thinker", "hello"));
  const priced = [{ model: "large-1", price: 0.003, currency: "EUR" }];
  expect(findModelLines(await live.readTaskLines("thinker", taskId))).toMatchObject(priced);
  await close();

  const fromFile = await ConsoleTestServer.start({}, {}, { prices, recordFiles: [record] });
  onTestFinished(() => fromFile.close());
  const { agents } = await fromFile.readJson<{ agents: { id: string }[] }>("GET agents");
  const lines = await fromFile.readTaskLines(agents[0]?.id ?? "", taskId);
  expect(findModelLines(lines)).toMatchObject(priced);
});
