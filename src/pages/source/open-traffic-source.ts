import { PAGE_DATA_ELEMENT_ID, type PageData } from "../page-data.ts";
import { SCREEN_NAMES, type ScreenName } from "../app/route.ts";
import { openConsoleSource } from "./console-source.ts";
import { createRecordSource } from "./record-source.ts";
import { openWatchedSource } from "./watched-source.ts";
import type { TrafficSource } from "./traffic-source.ts";

/** The source of a page, and the screen that the page shows first. */
export interface OpenedTrafficSource {
  readonly source: TrafficSource;
  readonly firstScreen: ScreenName;
}

/** Opens the source that the data in the page names. A page without data belongs to a console. */
export async function openTrafficSource(page: Document): Promise<OpenedTrafficSource> {
  const text = page.getElementById(PAGE_DATA_ELEMENT_ID)?.textContent;
  const data: PageData = text === undefined || text === null ? { mode: "console" } : (JSON.parse(text) as PageData);
  if (data.mode === "console") return { source: await openConsoleSource(), firstScreen: "tasks" };
  const firstScreen = SCREEN_NAMES.find((name) => name === data.firstScreen) ?? "tasks";
  const source = data.mode === "record" ? createRecordSource(data) : openWatchedSource(data);
  return { source, firstScreen };
}
