import { createRoot } from "react-dom/client";
import { ChatPage } from "./Chat";
import "./style.css";

createRoot(document.querySelector("#root")!).render(<ChatPage />);
