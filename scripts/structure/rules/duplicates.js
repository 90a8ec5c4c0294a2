import ts from 'typescript';

/** A passage of so many equal tokens is a duplicate. */
const passage = 50;

/** Counted only: some equal passages are better than what would join them. */
export const duplicates = {
  name: 'duplicates',
  check({ product }) {
    const first = new Map();
    const repeated = [];
    for (const file of product) {
      const tokens = tokensOf(file);
      for (const { at, hash } of hashesOf(tokens)) {
        const before = first.get(hash);
        if (before === undefined) first.set(hash, { file, line: tokens[at].line, at });
        else if (before.file !== file || at - before.at >= passage)
          repeated.push({ file, from: tokens[at].line, to: tokens[at + passage - 1].line, like: before });
      }
    }
    const passages = joined(repeated);
    const lines = passages.reduce((sum, { from, to }) => sum + to - from + 1, 0);
    return {
      problems: [],
      figures: [`duplicates: ${passages.length} passages of ${passage} tokens or more, ${lines} lines`],
      details: passages.map(
        ({ file, from, to, like }) => `${file.path}:${from}-${to} repeats ${like.file.path}:${like.line}`,
      ),
    };
  },
};

/** A rolling hash of 53 bits for each place where a passage may begin. */
function* hashesOf(tokens) {
  const [factorA, factorB] = [31, 1_000_003];
  let [leavingA, leavingB] = [1, 1];
  for (let at = 0; at < passage; at += 1)
    [leavingA, leavingB] = [Math.imul(leavingA, factorA), Math.imul(leavingB, factorB)];
  let [a, b] = [0, 0];
  for (let at = 0; at < tokens.length; at += 1) {
    const leaving = at < passage ? 0 : tokens[at - passage].id;
    a = (Math.imul(a, factorA) + tokens[at].id - Math.imul(leaving, leavingA)) | 0;
    b = (Math.imul(b, factorB) + tokens[at].id - Math.imul(leaving, leavingB)) | 0;
    if (at + 1 >= passage) yield { at: at + 1 - passage, hash: (a >>> 0) * 2 ** 21 + (b >>> 11) };
  }
}

const ids = new Map();
function idOf(text) {
  const id = ids.get(text) ?? Math.imul(ids.size + 1, 2_654_435_761);
  ids.set(text, id);
  return id;
}

function tokensOf(file) {
  const scanner = ts.createScanner(ts.ScriptTarget.Latest, true, ts.LanguageVariant.Standard, file.text);
  const tokens = [];
  const skipped = file.ast.statements.findLast(ts.isImportDeclaration)?.end ?? 0;
  scanner.resetTokenState(skipped);
  for (let kind = scanner.scan(); kind !== ts.SyntaxKind.EndOfFileToken; kind = scanner.scan())
    tokens.push({
      id: idOf(scanner.getTokenText()),
      line: file.ast.getLineAndCharacterOfPosition(scanner.getTokenStart()).line + 1,
    });
  return tokens;
}

/** Overlapping passages of a file are one. */
function joined(repeated) {
  const passages = [];
  for (const one of repeated) {
    const last = passages.at(-1);
    if (last?.file === one.file && one.from <= last.to) last.to = Math.max(last.to, one.to);
    else passages.push({ ...one });
  }
  return passages;
}
