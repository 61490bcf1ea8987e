import { type Evidence, RECORDED_MODELS, type Sample } from "../../cards/index.ts";
import { cassetteFile, readRecorded } from "../../experiments/index.ts";
import {
  cassette,
  type Faults,
  faulty,
  heuristicHotpot,
  oracle,
  recorded,
  type RoleModel,
} from "../../roles/index.ts";
import { Problem } from "../problem.ts";

export interface ModelSource {
  readonly samples: readonly Sample[];
  /** The folder of the data, which recorded answers come from. */
  readonly data: string | undefined;
  readonly faults?: Faults;
  /** A file that answers are kept in, and taken from. */
  readonly cassette?: string;
  readonly replay?: boolean;
}

/** The model of a name: one of those that are none, or any that an ADK agent may have. */
export async function roleModelOf(name: string, source: ModelSource): Promise<RoleModel> {
  const bare = await bareModel(name, source);
  const heard = source.cassette === undefined ? bare : withCassette(bare, name, source);
  return source.faults ? faulty(heard, source.faults) : heard;
}

async function bareModel(name: string, { samples, data, replay }: ModelSource): Promise<RoleModel> {
  if (name === "oracle") {
    const known = samples.filter((sample) => sample.dataset === "gsm8k");
    if (known.length === 0)
      throw new Problem(
        "A2ACLI_ERR_USAGE",
        "The oracle knows GSM8K alone.",
        "--model heuristic, or a real one",
      );
    return oracle(known);
  }
  if (name === "heuristic") return heuristicHotpot();
  if (name === "heuristic:one-hop") return heuristicHotpot({ secondHop: "nothing" });
  if (name === "heuristic:paragraph") return heuristicHotpot({ secondHop: "paragraph" });
  if (name.startsWith("recorded:")) {
    const wanted = name.slice("recorded:".length);
    const found = RECORDED_MODELS.find((one) => one === wanted);
    if (!found)
      throw new Problem(
        "A2ACLI_ERR_USAGE",
        `There are no recorded answers of ${wanted}.`,
        `--model recorded:${RECORDED_MODELS.join(" | recorded:")}`,
      );
    return recorded(readRecorded(data), found);
  }
  const evidence = name.startsWith("scripted:") ? "simulated" : "live-model";
  // A cassette that is only replayed needs neither the model's package nor a key.
  if (replay) return unheard(name, evidence);
  const { hushModels, model, roleModel } = await import("../../adk/models/index.ts");
  hushModels((warning) => process.emitWarning(warning));
  try {
    return roleModel(model(name), { id: name, evidence });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Problem("A2ACLI_ERR_USAGE", why, "colloquy cards run --help says what --model takes.", cause);
  }
}

function withCassette(
  inner: RoleModel,
  id: string,
  { cassette: file = "", replay = false }: ModelSource,
): RoleModel {
  // The model goes with it in a replay, too: what an oracle has said is no model's answer.
  return cassette(cassetteFile(file), { inner, id, ...(replay && { mode: "replay" }) });
}

function unheard(id: string, evidence: Evidence): RoleModel {
  const fail = (): never => {
    throw new Problem(
      "A2ACLI_ERR_USAGE",
      `--replay needs the cassette that ${id} was recorded on.`,
      "--cassette <file>",
    );
  };
  return { id, evidence, complete: () => Promise.resolve(fail()) };
}
