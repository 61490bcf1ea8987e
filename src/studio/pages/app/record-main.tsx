import { CardsScreen } from "../cards/cards-screen.tsx";
import { openEmbeddedSource } from "../source/open-embedded-source.ts";
import type { PageState } from "./page-state.ts";
import type { ScreenTable } from "./page-state.ts";
import { COMMON_SCREENS } from "./screens.ts";
import { startPage } from "./start-page.tsx";

/** The screens for traffic, which a record that contains only message cards does not offer. */
const TRAFFIC_SCREENS: ScreenTable = Object.fromEntries(
  Object.entries(COMMON_SCREENS).map(([name, screen]) => [
    name,
    {
      ...screen,
      isOffered: (state: PageState) =>
        state.source.hasOnlyCards !== true && (screen.isOffered?.(state) ?? true),
    },
  ]),
);

// The script of one-file exports and of watched records. It sends no requests to agents.
await startPage(
  {
    ...TRAFFIC_SCREENS,
    cards: {
      title: "Cards",
      component: CardsScreen,
      key: "k",
      isOffered: ({ source }) => source.cardRun !== undefined,
    },
  },
  async () => openEmbeddedSource(document),
);
