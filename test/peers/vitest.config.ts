import { fileURLToPath } from "node:url";
import { defineConfig, type ViteUserConfig } from "vitest/config";

const packages = fileURLToPath(
  new URL("../../node_modules/.cache/colloquy-peers/node_modules", import.meta.url),
);

const config: ViteUserConfig = defineConfig({
  resolve: {
    alias: {
      "@anthropic-ai/claude-agent-sdk": `${packages}/@anthropic-ai/claude-agent-sdk/sdk.mjs`,
      zod: `${packages}/zod/index.js`,
    },
  },
  test: {
    include: ["test/peers/**/*.peer-test.ts"],
    // Each query starts the program of Claude.
    testTimeout: 60_000,
    hookTimeout: 30_000,
  },
});

export default config;
