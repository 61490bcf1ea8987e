import { ChatPage } from "./Chat";

export default function Page() {
  return <ChatPage />;
}
