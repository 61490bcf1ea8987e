import { SCREEN_NAMES } from "../app/route.ts";
import type { OpenedTrafficSource } from "../app/start-page.tsx";
import { PAGE_DATA_ELEMENT_ID, type PageData } from "../page-data.ts";
import { parseWellFormedJson } from "./parse-well-formed-json.ts";
import { createRecordSource } from "./record-source.ts";
import { openWatchedSource } from "./watched-source.ts";

/** Opens the record that the page contains, or the watched record that its data names. */
export function openEmbeddedSource(page: Document): OpenedTrafficSource {
  const text = page.getElementById(PAGE_DATA_ELEMENT_ID)?.textContent;
  if (text === undefined || text === null)
    throw new Error("The page contains no record. Export the record again.");
  const data = parseWellFormedJson(text) as PageData;
  const firstScreen = SCREEN_NAMES.find((name) => name === data.firstScreen) ?? "tasks";
  return { source: data.mode === "record" ? createRecordSource(data) : openWatchedSource(data), firstScreen };
}
