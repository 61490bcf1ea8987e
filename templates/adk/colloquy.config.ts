import { defineConfig } from "colloquy";

/** Settings for `colloquy dev` and `colloquy serve`. Command-line options override them. */
export default defineConfig({
  agents: ["agent.ts"],
  port: 4120,
});
