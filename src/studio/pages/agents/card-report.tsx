import type { VNode } from "preact";
import { AgentText } from "../cards/agent-text.tsx";
import type { ConsoleCardReport, ConsoleCardSignature } from "../../console-api/index.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { JsonTree } from "../parts/json-tree.tsx";
import { formatJson } from "../parts/json-text.ts";

const SIGNATURE_LOOKS: Readonly<
  Record<ConsoleCardSignature["status"], { readonly symbol: string; readonly tone: string }>
> = {
  unsigned: { symbol: "○", tone: "idle" },
  verified: { symbol: "✓", tone: "good" },
  "self-signed": { symbol: "✓", tone: "idle" },
  invalid: { symbol: "✕", tone: "bad" },
  unverified: { symbol: "?", tone: "warn" },
};

/** The validation of a card, its signature, how the agent behaved compared with the card, and the JSON of the card. */
export function CardReport({ report }: { readonly report: ConsoleCardReport }): VNode {
  const { card, cardUrl, problems, signature, observed } = report;
  const { symbol, tone } = SIGNATURE_LOOKS[signature.status];
  return (
    <section class="card-report" aria-label="Agent card">
      <h3>Agent card</h3>
      {cardUrl !== undefined && (
        <p class="soft">
          <AgentText text={cardUrl} />
        </p>
      )}
      <p>
        <span class="badge" data-tone={tone}>
          <span aria-hidden="true">{symbol}</span> signature {signature.status}
        </span>{" "}
        {signature.detail !== undefined && <AgentText text={signature.detail} />}{" "}
        {signature.keyIds.length > 0 && (
          <span class="soft">
            keys: <AgentText text={signature.keyIds.join(", ")} />
          </span>
        )}
      </p>
      {problems.length === 0 ? (
        <p>
          <span class="badge" data-tone="good">
            ✓ valid
          </span>{" "}
          The card has no problems.
        </p>
      ) : (
        <ul class="card-problems" aria-label="Problems of the card">
          {problems.map(({ path, message, severity }, index) => (
            <li key={index}>
              <span class="badge" data-tone={severity === "error" ? "bad" : "warn"}>
                {severity === "error" ? "✕ error" : "▲ warning"}
              </span>{" "}
              <code>
                <AgentText text={path} />
              </code>{" "}
              <AgentText text={message} />
            </li>
          ))}
        </ul>
      )}
      {observed.length > 0 && (
        <div class="table-scroll" tabIndex={0} role="region" aria-label="Card compared with behavior">
          <table>
            <caption>Card compared with behavior</caption>
            <thead>
              <tr>
                <th scope="col">The card claims</th>
                <th scope="col">The console observed</th>
                <th scope="col">Result</th>
              </tr>
            </thead>
            <tbody>
              {observed.map(({ claim, observation, isConsistent }) => (
                <tr key={claim}>
                  <td>
                    <AgentText text={claim} />
                  </td>
                  <td>
                    <AgentText text={observation} />
                  </td>
                  <td>
                    <span class="badge" data-tone={isConsistent ? "good" : "bad"}>
                      {isConsistent ? "✓ consistent" : "✕ different"}
                    </span>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <div class="wire-body">
        <CopyButton text={() => formatJson(card, 2)} label="Copy the card as JSON" />
        <JsonTree value={card} openLevels={1} />
      </div>
    </section>
  );
}
