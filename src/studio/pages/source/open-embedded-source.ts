import { SCREEN_NAMES } from "../app/route.ts";
import type { OpenedTrafficSource } from "../app/start-page.tsx";
import { PAGE_DATA_ELEMENT_ID, type PageData } from "../page-data.ts";
import { parseWellFormedJson } from "./parse-well-formed-json.ts";
import { createMemorySource, createRecordSession, createRecordSource } from "./record-source.ts";
import type { TrafficLine } from "../../../observe/trace/index.ts";
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

/**
 * Opens a record that a server streams. A `lines` event contains an array of new lines, and a `reset` event discards
 * all lines.
 */
function openWatchedSource(data: Extract<PageData, { mode: "watch" }>): TrafficSource {
  const memory = new LineMemory();
  const events = new EventSource(new URL(data.eventsUrl, location.href));
  return {
    ...createMemorySource(memory, createRecordSession(data)),
    cardRun: createRunView(data.name, new RunModel(), events),
    hasOnlyCards: true,
    watchLines(onLines, onConnection) {
      let attempt = 0;
      events.addEventListener("open", () => {
        attempt = 0;
        onConnection?.({ state: "live" });
      });
      events.addEventListener("error", () => {
        attempt += 1;
        onConnection?.({
          state: "reconnecting",
          attempt,
          error: "The server that watches the record does not respond.",
        });
      });
      events.addEventListener("lines", (event) => {
        const lines = parseWellFormedJson(String(event.data)) as readonly TrafficLine[];
        memory.append(lines);
        onLines(lines);
      });
      events.addEventListener("reset", () => memory.clear());
      onConnection?.({ state: "connecting" });
      return () => events.close();
    },
  };
}
