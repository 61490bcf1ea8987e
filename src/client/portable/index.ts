/** The client for browsers and workers, which imports no module of Node.js and no optional package. */
export { TaskNotCompletedError } from "../ask-agent.ts";
export { createCardVerifier, verifyCard } from "../card/verify-card.ts";
export { collect } from "../collect-stream-result.ts";
export { discover, findCard } from "../find-card.ts";
export { readText } from "../read-text.ts";
export { createWebhook } from "../webhook/webhook.ts";
export { connect } from "./connect.ts";
