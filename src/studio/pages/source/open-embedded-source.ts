import { SCREEN_NAMES } from "../app/route.ts";
import type { OpenedTrafficSource } from "../app/start-page.tsx";
import { PAGE_DATA_ELEMENT_ID, type PageData } from "../page-data.ts";
import { parseWellFormedJson } from "./parse-well-formed-json.ts";
import { createMemorySource, createRecordSession, createRecordSource } from "./record-source.ts";
import { RunModel } from "../cards/model/run-model.ts";
import { createRunView } from "../cards/run-view.ts";
import { LineMemory } from "./line-memory.ts";
import type { TrafficSource } from "./traffic-source.ts";

/** Opens the record that the page contains, or the watched record that its data names. */
export function openEmbeddedSource(page: Document): OpenedTrafficSource {
  const text = page.getElementById(PAGE_DATA_ELEMENT_ID)?.textContent;
  if (text === undefined || text === null)
    throw new Error("The page contains no record. Export the record again.");
  const data = parseWellFormedJson(text) as PageData;
  const firstScreen = SCREEN_NAMES.find((name) => name === data.firstScreen) ?? "tasks";
  return { source: data.mode === "record" ? createRecordSource(data) : openWatchedSource(data), firstScreen };
}

/** Opens a record that grows, and shows its message cards. */
function openWatchedSource(data: Extract<PageData, { mode: "watch" }>): TrafficSource {
  return {
    ...createMemorySource(new LineMemory(), createRecordSession(data)),
    cardRun: createRunView(data.name, new RunModel(data.runId), new URL(data.linesUrl, location.href)),
    hasOnlyCards: true,
    watchLines: (_onLines, onConnection) => {
      onConnection?.({ state: "live" });
      return () => undefined;
    },
  };
}
