"use client";
import { useEffect, useRef, useState, type FormEvent } from "react";
import { openChat, type Chat, type ChatMessage } from "./chat";

/** A chat with the agent at `/agents`. */
export function ChatPage() {
  const [messages, setMessages] = useState<readonly ChatMessage[]>([]);
  const chat = useRef<Promise<Chat>>(undefined);
  useEffect(() => {
    chat.current ??= openChat(new URL("/agents", location.href).href, setMessages);
  }, []);

  async function send(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const form = event.currentTarget;
    const text = String(new FormData(form).get("text")).trim();
    form.reset();
    if (text !== "") await (await chat.current)?.send(text);
  }

  return (
    <main>
      <h1>Chat</h1>
      <ol className="messages" aria-live="polite">
        {messages.map(({ role, text }, index) => (
          <li key={index} className={role}>
            {text}
          </li>
        ))}
      </ol>
      <form onSubmit={(event) => void send(event)}>
        <input name="text" aria-label="Message" placeholder="Write a message" autoComplete="off" />
        <button>Send</button>
      </form>
    </main>
  );
}
