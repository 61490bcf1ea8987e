import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { agents } from "./agents.ts";

export default defineConfig({
  plugins: [
    react(),
    {
      name: "agents",
      apply: "serve",
      // The development server also serves the agents, so that the page needs no proxy.
      configureServer({ middlewares, httpServer }) {
        middlewares.use("/agents", agents.listener);
        httpServer?.once("close", () => void agents.close());
      },
    },
  ],
});
