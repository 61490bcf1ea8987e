/** A problem of the GSM8K dataset. */
export interface Gsm8kSample {
  readonly dataset: "gsm8k";
  /** `gsm8k_` followed by the position of the problem in its split, starting at 0. */
  readonly id: string;
  readonly question: string;
  /** Gold answer: the text after `####`, unchanged, for example `18` or `1,200`. */
  readonly gold: string;
  /** Human-written solution without its last line. */
  readonly solution: string;
  /** Solution as a list of steps. Empty unless the Socratic file was read, too. */
  readonly steps: readonly Gsm8kStep[];
}

/** A step of a GSM8K solution. */
export interface Gsm8kStep {
  readonly question: string;
  /** Answer in prose. It may contain calculator annotations such as `<<16-3-4=9>>`. */
  readonly text: string;
}

/** A problem of the HotpotQA dataset in the distractor setting. */
export interface HotpotQaSample {
  readonly dataset: "hotpotqa";
  /** `hotpotqa_` followed by the `dev_index`, else the `_id`, else the position of the record in the file. */
  readonly id: string;
  readonly question: string;
  readonly gold: string;
  /** Question type: `bridge` or `comparison`. */
  readonly type: string | undefined;
  readonly level: string | undefined;
  /** Paragraphs of the problem. Two of them are needed for the answer, the others are distractors. */
  readonly paragraphs: readonly Paragraph[];
  /** Sentences that support the answer. Like `gold`, they must not be shown to the role that answers. */
  readonly supportingFacts: readonly SupportingFact[];
}

/** A paragraph of a HotpotQA problem. */
export interface Paragraph {
  readonly title: string;
  readonly sentences: readonly string[];
}

/** A sentence that supports the answer to a HotpotQA problem. */
export interface SupportingFact {
  readonly title: string;
  /** Position of the sentence in its paragraph, starting at 0. */
  readonly sentence: number;
}

/** A problem of one of the supported datasets. */
export type DatasetSample = Gsm8kSample | HotpotQaSample;
