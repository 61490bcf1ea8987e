// The page of the reload tests with `createChat` and without a framework, which needs no packages.
import { chat } from "./chat-test-page.js";

const show = () => {
  document.querySelector("main").textContent = JSON.stringify(chat.getSnapshot().messages, null, 1);
};
chat.subscribe(show);
show();
