import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../protocol/index.ts";
import { runRoleInFakeTaskContext } from "../fake-task-context.fixture.ts";
import { createTaskContextFromDocuments, parseContextDocuments } from "../context-documents.ts";
import { createPlanner } from "../planner/index.ts";
import { createSolver } from "../solver/index.ts";
import { createHotpotHeuristicModel, type HotpotHeuristicOptions } from "./index.ts";

const paragraphs = [
  { title: "Birthplace", sentences: ["A birthplace is a place.", " It is on a document."] },
  {
    title: "Christopher Nolan",
    sentences: ["Films are his work.", " Christopher Nolan was born in Westminster."],
  },
  { title: "Film", sentences: ["A film is directed by whoever directed it."] },
  { title: "Inception (film)", sentences: ["Inception is a film directed by Christopher Nolan."] },
];

async function runHotpotPlanner(
  secondHop: NonNullable<HotpotHeuristicOptions["secondHopSource"]>,
  context: JsonObject = createTaskContextFromDocuments(paragraphs),
) {
  const model = createHotpotHeuristicModel({ secondHopSource: secondHop });
  const { reply, run } = await runRoleInFakeTaskContext(createPlanner(), {
    task: "Who directed the film Inception, and when was he born?",
    dataset: "hotpotqa",
    context,
    model,
    delegates: { solver: { role: createSolver(), model } },
  });
  const titles = run
    .listTasksTo("solver")
    .flatMap(({ metadata }) => parseContextDocuments(metadata.context).map(({ title }) => title));
  return { reply, titles };
}

describe("the heuristic", () => {
  it("goes from the paragraph that the question names to the paragraph that it mentions", async () => {
    const { reply, titles } = await runHotpotPlanner("answer");
    expect(titles).toEqual(["Inception (film)", "Christopher Nolan"]);
    expect(reply).toMatchObject({
      content: "Christopher Nolan was born in Westminster.",
      metadata: { status: "completed" },
    });
  });

  it("can use the complete first paragraph or nothing of it", async () => {
    expect((await runHotpotPlanner("paragraph")).titles).toEqual(["Inception (film)", "Christopher Nolan"]);
    expect((await runHotpotPlanner("nothing")).titles).toEqual(["Inception (film)", "Film"]);
  });

  it("finds nothing without documents", async () => {
    const { reply, titles } = await runHotpotPlanner("answer", {});
    expect([reply.content, titles]).toEqual(["Not found", []]);
  });

  it("reports its id and evidence", () => {
    expect(createHotpotHeuristicModel()).toMatchObject({ id: "heuristic:bm25", evidenceKind: "heuristic" });
  });
});
