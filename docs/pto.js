// Colours of PTO text in the pages of the site; highlight.js comes with mdBook and does not know the language.
"use strict";

(() => {
  const hljs = window.hljs;
  if (!hljs) return;
  hljs.registerLanguage("pto", () => ({
    name: "PTO",
    contains: [
      hljs.C_LINE_COMMENT_MODE,
      hljs.QUOTE_STRING_MODE,
      { className: "variable", begin: /%[\w.$#-]+/ },
      { className: "title", begin: /@[\w.$-]+/ },
      { className: "type", begin: /![\w.$-]+/ },
      { className: "meta", begin: /#[\w.$-]+/ },
      { className: "built_in", begin: /\b(?:pto|arith|scf|func|memref|math|index|llvm|builtin)\.[\w.]+/ },
      { className: "keyword", begin: /\b(?:ins|outs|attributes|module|return|iter_args|to|step|else)\b/ },
      { className: "number", begin: /\b(?:0x[0-9a-fA-F]+|\d+(?:x\d+)*(?:\.\d+)?(?:[eE][-+]?\d+)?)(?:x[a-z]\w*)?\b/ },
    ],
  }));
  for (const block of document.querySelectorAll("code.language-pto")) {
    // What mdBook did with the unknown language is undone first.
    block.classList.remove("hljs", "nohighlight");
    hljs.highlightBlock(block);
  }
})();
