"use client";
import dynamic from "next/dynamic";

/**
 * The chat renders only in the browser. On the server, Next would load Colloquy without bundling it, so that its React
 * hook would use another copy of React than the page.
 */
const ChatPage = dynamic(async () => (await import("./Chat")).ChatPage, { ssr: false });

export default function Page() {
  return <ChatPage />;
}
