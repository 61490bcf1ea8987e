import { CardsScreen } from "../cards/cards-screen.tsx";
import { openEmbeddedSource } from "../source/open-embedded-source.ts";
import { COMMON_SCREENS } from "./screens.ts";
import { startPage } from "./start-page.tsx";

// The script of one-file exports and of watched records. It sends no requests to agents.
await startPage(
  {
    ...COMMON_SCREENS,
    cards: {
      title: "Cards",
      component: CardsScreen,
      key: "k",
      isOffered: ({ source }) => source.cardRun !== undefined,
    },
  },
  async () => openEmbeddedSource(document),
);
