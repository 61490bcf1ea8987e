/** Configuration for `colloquy serve` in this folder, which serves the agent as `research-assistant`. */
import { defineConfig } from "colloquy";
import { agent } from "./agent.ts";

export default defineConfig({ agents: { "research-assistant": agent } });
