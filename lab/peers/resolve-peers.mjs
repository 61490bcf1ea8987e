/**
 * `node --import ./lab/peers/resolve-peers.mjs …` finds the packages of `lab/peers/package.json`, so that examples which
 * import them run.
 */
import { registerHooks } from "node:module";

const peers = new URL("../../node_modules/.cache/colloquy-peers/package.json", import.meta.url).href;

registerHooks({
  resolve: (specifier, context, nextResolve) =>
    nextResolve(specifier, specifier.startsWith("@mastra/") ? { ...context, parentURL: peers } : context),
});
