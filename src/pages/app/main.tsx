import { render } from "preact";
import { startTrafficFeed } from "../flow/traffic-feed.ts";
import { openTrafficSource } from "../source/open-traffic-source.ts";
import { App } from "./app.tsx";
import { startHotkeys } from "./hotkeys.ts";
import { createPageState } from "./page-state.ts";
import { restoreTheme } from "./theme.ts";
import { StartFailure } from "./start-failure.tsx";

restoreTheme();
const root = document.getElementById("app") ?? document.body;
try {
  const { source, firstScreen } = await openTrafficSource(document);
  const state = createPageState(source, firstScreen);
  startTrafficFeed(state);
  await state.refreshAgents();
  startHotkeys();
  state.start();
  render(<App state={state} />, root);
} catch (error) {
  render(<StartFailure error={error} />, root);
}
document.body.dataset["ready"] = "";
