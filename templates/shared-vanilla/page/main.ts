import { openChat, type Chat, type ChatMessage } from "./chat.ts";

const list = document.querySelector(".messages")!;
const form = document.querySelector("form")!;
const input = document.querySelector("input")!;

function showMessages(messages: readonly ChatMessage[]): void {
  list.replaceChildren(
    ...messages.map(({ role, text }) => {
      const item = document.createElement("li");
      item.className = role;
      item.textContent = text;
      return item;
    }),
  );
}

const chat: Chat = await openChat(new URL("/agents", location.href).href, showMessages);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  const text = input.value.trim();
  input.value = "";
  if (text !== "") void chat.send(text);
});
