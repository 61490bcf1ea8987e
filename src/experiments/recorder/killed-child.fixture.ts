/**
 * A run in a process of its own, which ends itself by SIGKILL after so many cards: `node killed-child.fixture.ts <folder>
 * <cards>`. Two problems at a time, six cards each.
 */
import { JANET, recorded } from "../../cards/record/record.fixture.ts";
import { openRunFile } from "./index.ts";
import { RUN } from "./run.fixture.ts";

const [, , out = "", cards = ""] = process.argv;
const record = openRunFile(RUN, { out, resume: true });
let left = Number(cards);

async function solve(sample_id: string): Promise<void> {
  for (const { card, dir, at_role } of recorded([{ ...JANET, id: sample_id }]).cards) {
    // What each attempt says is its own, so that a mixture of two would show.
    const metadata = { ...card.metadata, attempt_of: process.pid };
    record.card({ run_id: RUN.run_id, sample_id, dir, at_role, card: { ...card, metadata } });
    if (--left === 0) process.kill(process.pid, "SIGKILL");
    // The other problem has its turn.
    await Promise.resolve();
  }
  record.score({ run_id: RUN.run_id, sample_id, gold: "18", predicted: "18", correct: true, rule: RUN.rule });
}

const waiting = RUN.sample_ids.filter((id) => !record.done.has(id));
const worker = async (): Promise<void> => {
  for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) await solve(id);
};
await Promise.all([worker(), worker()]);
record.end("completed");
