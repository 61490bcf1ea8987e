import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { generateFlowDiagram, visualizeCards } from "../index.ts";
import { createScriptedRecording } from "../recording/recording.fixture.ts";
import { SCRIPTED_SEQUENTIAL_TASKS_SAMPLE } from "../recording/scripted-samples.fixture.ts";
import { A2AVisualizer } from "./index.ts";

it("the visualizer of the specification shows cards, draws their flow, and saves both", async () => {
  const cards = createScriptedRecording([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE]).cards;
  expect(A2AVisualizer.visualizeCards(cards)).toBe(visualizeCards(cards));
  expect(A2AVisualizer.generateFlowDiagram(cards)).toBe(generateFlowDiagram(cards));

  const file = join(await mkdtemp(join(tmpdir(), "colloquy-")), "results", "cards.txt");
  A2AVisualizer.saveCardVisualization(cards, file);
  expect(await readFile(file, "utf8")).toBe(`${visualizeCards(cards)}\n\n${generateFlowDiagram(cards)}\n`);
  A2AVisualizer.saveCardVisualization(cards.slice(0, 1), file, { style: "classic" });
  expect(await readFile(file, "utf8")).toContain("Total Cards: 1\n");
});
