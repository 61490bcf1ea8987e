import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import {
  agent,
  authRequired,
  data,
  failed,
  file,
  inputRequired,
  status,
} from "../../../../src/agents/adapters/index.ts";
import { fromBase64 } from "../../../../src/protocol/index.ts";
import type { Agent } from "../../../../src/engine/index.ts";

const PAUSE_MS = 150;

/**
 * Generator agent that the clients of other projects call. `count` streams "one two three" with pauses, `ask`
 * asks a question, `wait` works until it is canceled, `sign in` requires authentication, `files` returns a file
 * and data, `receive` lists the received parts, and `fail` fails.
 */
export function createScenarioAgent(artifacts: "whole" | "pieces" = "whole"): Agent {
  return agent(
    {
      name: "counter",
      description: "Counts.",
      capabilities: { streaming: true, pushNotifications: true },
    },
    async function* ({ text, task, message, signal }) {
      const isAnswer = (task.history ?? []).filter(({ role }) => role === "ROLE_USER").length > 1;
      if (text === "ask") yield inputRequired("Which color?");
      else if (text === "wait") {
        yield status();
        await once(signal, "abort");
      } else if (text === "sign in") yield authRequired("Sign in first.");
      else if (isAnswer) yield `got ${text}`;
      else if (text === "files") {
        yield "Here it is: ";
        yield file(fromBase64("iVBORw0KGgo="), { mediaType: "image/png", filename: "dot.png" });
        yield data({ width: 1 });
      } else if (text === "receive") {
        yield `Received: ${message.parts.map((part) => ("raw" in part ? part.raw : Object.keys(part)[0])).join(" ")}`;
      } else if (text === "fail") {
        yield "Partly. ";
        yield failed("no credit");
      } else {
        for (const word of ["one ", "two ", "three"]) {
          yield word;
          await pause(PAUSE_MS);
        }
      }
    },
    { artifacts },
  );
}
