import { fileURLToPath } from "node:url";
import { defineConfig, type ViteUserConfig } from "vitest/config";

const packages = fileURLToPath(
  new URL("../../node_modules/.cache/colloquy-peers/node_modules", import.meta.url),
);

const config: ViteUserConfig = defineConfig({
  resolve: {
    alias: [
      {
        find: "@anthropic-ai/claude-agent-sdk",
        replacement: `${packages}/@anthropic-ai/claude-agent-sdk/sdk.mjs`,
      },
      { find: /^@mastra\/core$/, replacement: `${packages}/@mastra/core/dist/index.js` },
      { find: /^@mastra\/core\/(.+)$/, replacement: `${packages}/@mastra/core/dist/$1/index.js` },
      { find: "zod", replacement: `${packages}/zod/index.js` },
    ],
  },
  test: {
    include: ["lab/peers/**/*.peer-test.ts"],
    // Each query starts the program of Claude.
    testTimeout: 60_000,
    hookTimeout: 30_000,
  },
});

export default config;
