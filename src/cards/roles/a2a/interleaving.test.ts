import { expect, it } from "vitest";
import { type MessageCard, PLANNER, SOLVER } from "../../index.ts";
import { flushEventLoopForTest } from "../../../engine/engine.fixture.ts";
import { isTerminal } from "../../../protocol/index.ts";
import { startRoleTestbed, createTestRoleFromFunction } from "./role-testbed.fixture.ts";
import { isLongRun } from "../../../../test/support/count-runs.ts";

/** A planner that asks its requester, runs two subtasks in parallel, and then runs a third one. */
const queryingPlanner = createTestRoleFromFunction(
  PLANNER,
  async (taskContext) => {
    await taskContext.sendQuery({ query: "Which way?" });
    const both = await Promise.all(
      ["one", "two"].map((task) => taskContext.delegate({ to: SOLVER, task, turn: 1 })),
    );
    const last = await taskContext.delegate({ to: SOLVER, task: "three", turn: 2 });
    return { result: [...both, last].map(({ content }) => content).join(), status: "completed" };
  },
  { answerQuery: async ({ content }) => ({ result: `yes, ${content}` }) },
);

/** A solver that also asks and then waits. */
const queryingSolver = createTestRoleFromFunction(SOLVER, async (taskContext) => {
  await flushEventLoopForTest(3);
  taskContext.signal.throwIfAborted();
  const { content } = await taskContext.sendQuery({ query: taskContext.task.content });
  return { result: content, status: "success" };
});

const CARD_COUNT = 15;

/** Replies to a task by the roles that end it. */
const filterReplies = (task: MessageCard, cards: readonly MessageCard[]): readonly MessageCard[] =>
  cards.filter(
    ({ message_type, metadata }) =>
      (message_type === "result" || message_type === "error") &&
      metadata.in_reply_to === task.metadata.card_id,
  );

it(`a stop at any point leaves one reply per task and no open task [E8]`, async () => {
  const open = await startRoleTestbed(
    { planner: queryingPlanner, solver: queryingSolver },
    { controller: { answerQuery: async () => flushEventLoopForTest(2).then(() => ({ result: "left" })) } },
  );
  const outcomes = new Map<string, number>();
  for (let after = 1; after <= CARD_COUNT; after++) {
    // `npm test` takes every second combination.
    for (const later of [0, 1, 4, 12].filter((_, at) => isLongRun || (after + at) % 2 === 0)) {
      const stop = new AbortController();
      let seen = 0;
      const onCard = (): void => {
        if (++seen === after) void flushEventLoopForTest(later).then(() => stop.abort());
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

      // The solvers' last cards may arrive after the planner has ended.
      await expect
        .poll(async () => {
          const tasks = [...(await open.listTasks(PLANNER)), ...(await open.listTasks(SOLVER))];
          return tasks.filter(({ status }) => !isTerminal(status.state)).length;
        })
        .toBe(0);
      const ofThis = open.recorder.cards.filter(({ sample_id }) => sample_id === sampleId);
      const union = [...new Map(ofThis.map(({ card }) => [card.metadata.card_id, card])).values()];
      for (const task of union.filter(({ message_type }) => message_type === "task")) {
        expect
          .soft(
            filterReplies(task, union).map(({ sender, metadata }) => [sender, metadata]),
            `${sampleId} ${task.content}`,
          )
          .toHaveLength(1);
      }
      expect(filterReplies(cards[0] as MessageCard, cards)).toEqual([reply]);
    }
  }
  expect([...outcomes.keys()].toSorted()).toEqual(["cancelled", "completed"]);
  expect(open.errors).toEqual([]);
});
