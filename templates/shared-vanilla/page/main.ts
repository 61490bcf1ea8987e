import { createChat } from "colloquy/ui";

const list = document.querySelector(".messages")!;
const form = document.querySelector("form")!;
const input = document.querySelector("input")!;

// The browser stores only the id of the conversation. After a reload, an answer that is still running continues.
const chat = createChat(new URL("/agents", location.href).href);

chat.subscribe(() => {
  const { messages } = chat.getSnapshot();
  list.replaceChildren(
    ...messages.map(({ role, parts }) => {
      const item = document.createElement("li");
      item.className = role;
      // A message also has other parts: files, data, and tool calls.
      item.textContent = parts.map((part) => (part.type === "text" ? part.text : "")).join("");
      return item;
    }),
  );
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  const text = input.value.trim();
  input.value = "";
  if (text !== "") void chat.send(text);
});
await chat.resume();
