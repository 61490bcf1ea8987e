import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** An input item of a request to the Responses API. */
export interface ResponsesInputItem {
  readonly type?: string;
  readonly role?: string;
  readonly content?: string | readonly { readonly type: string; readonly [field: string]: unknown }[];
  readonly output?: string;
}

/** Values that a scripted model answers with: text, reasoning, or the call of a tool. */
export type ScriptedModelOutput =
  | string
  | { readonly reasoning: string }
  | { readonly callId: string; readonly toolName: string; readonly input: object };

/** Answers a request of the Responses API. A thrown error becomes an HTTP response with status 400. */
export type ResponsesScript = (
  input: readonly ResponsesInputItem[],
  response: ServerResponse,
) => Iterable<ScriptedModelOutput> | AsyncIterable<ScriptedModelOutput>;

/** A server on a real socket that speaks OpenAI's Responses API and follows a script. */
export async function startResponsesEndpoint(
  script: ResponsesScript,
): Promise<{ baseURL: string; close: () => void }> {
  const server = createServer((request, response) => {
    void (async () => {
      let body = "";
      for await (const piece of request.setEncoding("utf8")) body += String(piece);
      const { input } = JSON.parse(body) as { input: ResponsesInputItem[] };
      try {
        await streamResponse(script(input, response), response);
      } catch (error) {
        response.writeHead(400, { "content-type": "application/json" });
        response.end(JSON.stringify({ error: { message: (error as Error).message } }));
      }
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function streamResponse(outputs: ReturnType<ResponsesScript>, response: ServerResponse): Promise<void> {
  const items: object[] = [];
  let answer = "";
  const send = (type: string, fields: object): void => {
    if (!response.headersSent) response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: 0, ...fields })}\n\n`);
  };
  const envelope = { id: "resp_1", object: "response", created_at: 1, model: "m", error: null };
  for await (const output of outputs) {
    if (typeof output === "string") {
      answer += output;
      send("response.output_text.delta", {
        item_id: "msg_1",
        output_index: 0,
        content_index: 0,
        delta: output,
      });
    } else if ("reasoning" in output) {
      send("response.reasoning_summary_text.delta", { item_id: "rs_1", delta: output.reasoning });
      items.push({
        id: "rs_1",
        type: "reasoning",
        summary: [{ type: "summary_text", text: output.reasoning }],
      });
    } else {
      const { callId: call_id, toolName: name, input } = output;
      const call = { id: `fc_${call_id}`, type: "function_call", call_id, name, status: "completed" };
      items.push({ ...call, arguments: JSON.stringify(input) });
    }
  }
  if (answer !== "") {
    const content = [{ type: "output_text", text: answer, annotations: [] }];
    items.unshift({ id: "msg_1", type: "message", role: "assistant", status: "completed", content });
  }
  const usage = { input_tokens: 3, output_tokens: 5, total_tokens: 8 };
  send("response.completed", { response: { ...envelope, status: "completed", output: items, usage } });
  response.end();
}
