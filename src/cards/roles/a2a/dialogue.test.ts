import { describe, expect, it } from "vitest";
import { A2ACardProtocol, generateFlowDiagram } from "../../index.ts";
import { createController, serveRoles } from "../index.ts";
import {
  type PlannerSolverDialogue,
  EXPECTED_FLOW_DIAGRAM,
  SCRIPTED_INCEPTION_DIALOGUE,
  JANET_DIALOGUE,
  InMemoryTestCardRecorder,
  createScriptedPlanner,
  createScriptedSolver,
} from "./planner-solver-dialogue.fixture.ts";

async function runDialogue(
  dialogue: PlannerSolverDialogue,
  servers: "apart" | "together" = "apart",
): Promise<{
  memo: InMemoryTestCardRecorder;
  solution: Awaited<ReturnType<ReturnType<typeof createController>["solve"]>>;
}> {
  const recorder = new InMemoryTestCardRecorder();
  const served = await serveRoles({
    roles: { planner: createScriptedPlanner(dialogue), solver: createScriptedSolver(dialogue) },
    serverLayout: servers,
    recorder,
  });
  try {
    const controller = createController({ roleTargets: served.urls, recorder });
    const { task, dataset } = dialogue;
    const solution = await controller.solve({ task, dataset, runId: "run", sampleId: "one", relay: "full" });
    return { memo: recorder, solution };
  } finally {
    await served.close();
  }
}

describe.each([
  ["Janet's ducks", JANET_DIALOGUE],
  ["the director of Inception", SCRIPTED_INCEPTION_DIALOGUE],
])("%s, between a controller, a planner, and a solver on separate servers", (_name, dialogue) => {
  it("has six cards in the order of the specification", async () => {
    const { solution } = await runDialogue(dialogue);
    expect(generateFlowDiagram(solution.cards)).toBe(EXPECTED_FLOW_DIAGRAM);
    const [first, second] = dialogue.steps;
    expect(solution.cards.map(({ content }) => content)).toEqual([
      dialogue.task,
      first?.subtask,
      first?.answer,
      second?.subtask,
      second?.answer,
      dialogue.answer,
    ]);
    expect(solution.reply.metadata).toMatchObject({ status: "completed" });
  });

  it("relays every recorded card to the caller", async () => {
    const { memo: recorder, solution } = await runDialogue(dialogue);
    const byId = (cards: readonly object[]): string[] => cards.map((card) => JSON.stringify(card)).toSorted();
    expect(byId(recorder.uniqueCards)).toEqual(byId(solution.cards));
    expect(recorder.cardRecordLines.toSorted()).toEqual(
      [
        "controller out task",
        "planner in task",
        ...Array.from({ length: 2 }, () => [
          "planner out task",
          "solver in task",
          "solver out result",
          "planner in result",
        ]).flat(),
        ...Array.from({ length: 2 }, () => ["controller relayed task", "controller relayed result"]).flat(),
        "planner out result",
        "controller in result",
      ].toSorted(),
    );
  });

  it("has one reply per task and correct references on every card", async () => {
    const { solution } = await runDialogue(dialogue, "together");
    const tasks = solution.cards.filter(({ message_type }) => message_type === "task");
    for (const { metadata } of tasks) {
      const replies = solution.cards.filter(
        (card) => card.metadata.in_reply_to === metadata.card_id && card.message_type === "result",
      );
      expect(replies).toHaveLength(1);
    }
    for (const { metadata } of solution.cards) {
      expect(metadata).toMatchObject({ run_id: "run", sample_id: "one", dataset: dialogue.dataset });
    }
    expect(solution.cards.map(({ metadata }) => metadata.turn)).toEqual([undefined, 1, 1, 2, 2, undefined]);
    expect(solution.cards.every((card) => A2ACardProtocol.validate(card).length === 0)).toBe(true);
  });
});
