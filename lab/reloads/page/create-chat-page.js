// The page of the reload tests with `createChat` and its React binding.
import { useA2AChat } from "colloquy/ui/react";
import { createElement } from "react";
import { createRoot } from "react-dom/client";
import { chat } from "./chat-test-page.js";

function Page() {
  const { messages } = useA2AChat(chat);
  return createElement("pre", null, JSON.stringify(messages, null, 1));
}
createRoot(document.querySelector("main")).render(createElement(Page));
