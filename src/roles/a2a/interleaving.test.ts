import { expect, it } from "vitest";
import { type Card, PLANNER, SOLVER } from "../../cards/index.ts";
import { settle } from "../../engine/engine.fixture.ts";
import { isTerminal } from "../../protocol/index.ts";
import { house, role } from "./house.fixture.ts";

/** Asks its giver, has two subtasks done at once and a third after them. */
const planner = role(
  PLANNER,
  async (desk) => {
    await desk.query({ query: "Which way?" });
    const both = await Promise.all(
      ["one", "two"].map((task) => desk.delegate({ to: SOLVER, task, turn: 1 })),
    );
    desk.notice({ error: "so far so good", errorType: "note" });
    const last = await desk.delegate({ to: SOLVER, task: "three", turn: 2 });
    return { result: [...both, last].map(({ content }) => content).join(), status: "completed" };
  },
  { answer: async ({ content }) => ({ result: `yes, ${content}` }) },
);

/** Asks, too, and takes its time. */
const solver = role(SOLVER, async (desk) => {
  await settle(3);
  desk.signal.throwIfAborted();
  const { content } = await desk.query({ query: desk.task.content });
  return { result: content, status: "success" };
});

const CARDS = 16;

/** Replies to a task, by those who end it. */
const repliesTo = (task: Card, cards: readonly Card[]): readonly Card[] =>
  cards.filter(
    ({ message_type, metadata }) =>
      (message_type === "result" || message_type === "error") &&
      metadata.in_reply_to === task.metadata.card_id,
  );

it(`wherever it is stopped, every task has one reply and none is left behind [E8]`, async () => {
  const open = await house(
    { planner, solver },
    { controller: { answer: async () => settle(2).then(() => ({ result: "left" })) } },
  );
  const outcomes = new Map<string, number>();
  for (let after = 1; after <= CARDS; after++) {
    for (const later of [0, 1, 4, 12]) {
      const stop = new AbortController();
      let seen = 0;
      const onCard = (): void => {
        if (++seen === after) void settle(later).then(() => stop.abort());
      };
      const sampleId = `s${after}.${later}`;
      const { reply, cards } = await open.controller.solve({
        task: "go",
        sampleId,
        relay: "full",
        signal: stop.signal,
        onCard,
      });
      const { status, error_type } = reply.metadata as Record<string, string | undefined>;
      const outcome = status ?? error_type ?? "none";
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);

      // The solvers' last words may come when the planner has already ended.
      await expect
        .poll(async () => {
          const tasks = [...(await open.tasks(PLANNER)), ...(await open.tasks(SOLVER))];
          return tasks.filter(({ status }) => !isTerminal(status.state)).length;
        })
        .toBe(0);
      const ofThis = open.memo.cards.filter(({ sample_id }) => sample_id === sampleId);
      const union = [...new Map(ofThis.map(({ card }) => [card.metadata.card_id, card])).values()];
      for (const task of union.filter(({ message_type }) => message_type === "task")) {
        expect
          .soft(
            repliesTo(task, union).map(({ sender, metadata }) => [sender, metadata]),
            `${sampleId} ${task.content}`,
          )
          .toHaveLength(1);
      }
      expect(repliesTo(cards[0] as Card, cards)).toEqual([reply]);
    }
  }
  expect([...outcomes.keys()].toSorted()).toEqual(["cancelled", "completed"]);
  expect(open.errors).toEqual([]);
});
