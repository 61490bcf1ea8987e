import { ChatScreen } from "../chat/chat-screen.tsx";
import { openConsoleSource } from "../source/console-source.ts";
import { COMMON_SCREENS } from "./screens.ts";
import { startPage } from "./start-page.tsx";

// The script of a console. It has no screen for message cards, so that it stays small.
await startPage(
  {
    ...COMMON_SCREENS,
    chat: {
      title: "Chat",
      component: ChatScreen,
      key: "c",
      isOffered: ({ source }) => source.actions !== undefined && source.session.canAct,
    },
  },
  async () => ({ source: await openConsoleSource(), firstScreen: "tasks" }),
);
