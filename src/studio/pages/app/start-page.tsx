import { render } from "preact";
import { startTrafficFeed } from "../flow/traffic-feed.ts";
import type { TrafficSource } from "../source/traffic-source.ts";
import { App } from "./app.tsx";
import { startHotkeys } from "./hotkeys.ts";
import { createPageState, type ScreenTable } from "./page-state.ts";
import type { ScreenName } from "./route.ts";
import { StartFailure } from "./start-failure.tsx";
import { restoreTheme } from "./theme.ts";

/** The source of a page, and the screen that the page shows first. */
export interface OpenedTrafficSource {
  readonly source: TrafficSource;
  readonly firstScreen: ScreenName;
}

/** Opens the source and renders the page. The attribute `data-ready` of the body marks the end. */
export async function startPage(
  screens: ScreenTable,
  openSource: () => Promise<OpenedTrafficSource>,
): Promise<void> {
  restoreTheme();
  const root = document.getElementById("app") ?? document.body;
  try {
    const { source, firstScreen } = await openSource();
    const state = createPageState(source, screens, firstScreen);
    startTrafficFeed(state);
    await state.refreshAgents();
    startHotkeys();
    state.start();
    render(<App state={state} />, root);
  } catch (error) {
    render(<StartFailure error={error} />, root);
  }
  document.body.dataset["ready"] = "";
}
