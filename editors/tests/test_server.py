"""`tessera lsp` as a process, driven by a client that is not ours: from a kernel that does not work to one that does."""

import os

import pytest
import pytest_lsp
from lsprotocol import types as lsp
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

URI = "file:///kernel.pto"

LAYOUT = """module attributes {pto.target_arch = "a5"} {
  func.func @load() {
    %src = pto.alloc_tile : !pto.tile_buf<mat, 64x64xf16>
    %dst = pto.alloc_tile : !pto.tile_buf<loc=left, f16, 64, 64>
    pto.tmov ins(%src : !pto.tile_buf<mat, 64x64xf16>) outs(%dst : !pto.tile_buf<loc=left, f16, 64, 64>)
    return
  }
}
"""

RACE = """module attributes {pto.target_arch = "a5"} {
  func.func @twice(%g: !pto.ptr<f32>) {
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %v = pto.make_tensor_view %g, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<16x16xf32>
    %a = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
    %b = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
    pto.barrier <PIPE_ALL>
    pto.tload ins(%v : !pto.tensor_view<16x16xf32>) outs(%a : !pto.tile_buf<vec, 16x16xf32>)
    pto.tadd ins(%a, %a : !pto.tile_buf<vec, 16x16xf32>, !pto.tile_buf<vec, 16x16xf32>) outs(%b : !pto.tile_buf<vec, 16x16xf32>)
    return
  }
}
"""


@pytest_lsp.fixture(config=ClientServerConfig(server_command=[os.environ["TESSERA"], "lsp"]))
async def client(lsp_client: LanguageClient):
    params = lsp.InitializeParams(capabilities=client_capabilities("visual-studio-code"))
    await lsp_client.initialize_session(params)
    yield
    await lsp_client.shutdown_session()


class Document:
    """A document that is open in the client."""

    def __init__(self, client, text):
        self.client, self.text, self.version = client, text, 1
        item = lsp.TextDocumentItem(uri=URI, language_id="pto", version=1, text=text)
        client.text_document_did_open(lsp.DidOpenTextDocumentParams(text_document=item))

    async def diagnostics(self):
        """What is said of this version, races included: they are said at once in a short text."""
        await self.client.wait_for_notification(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        return list(self.client.diagnostics[URI])

    def position(self, what):
        line = next(n for n, line in enumerate(self.text.splitlines()) if what in line)
        return lsp.Position(line=line, character=self.text.splitlines()[line].index(what) + 1)

    async def hover(self, what):
        document = lsp.TextDocumentIdentifier(uri=URI)
        answer = await self.client.text_document_hover_async(lsp.HoverParams(document, self.position(what)))
        return answer.contents.value

    async def actions(self, diagnostic):
        context = lsp.CodeActionContext(diagnostics=[diagnostic])
        document = lsp.TextDocumentIdentifier(uri=URI)
        return await self.client.text_document_code_action_async(lsp.CodeActionParams(document, diagnostic.range, context))

    def apply(self, edits):
        lines = self.text.splitlines(keepends=True)

        def offset(p):
            return sum(map(len, lines[: p.line])) + p.character

        text = self.text
        for edit in sorted(edits, key=lambda e: (e.range.start.line, e.range.start.character), reverse=True):
            text = text[: offset(edit.range.start)] + edit.new_text + text[offset(edit.range.end) :]
        self.text, self.version = text, self.version + 1
        document = lsp.VersionedTextDocumentIdentifier(uri=URI, version=self.version)
        change = lsp.TextDocumentContentChangeWholeDocument(text=text)
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(document, [change]))


@pytest.mark.asyncio
async def test_a_wrong_layout_is_mended(client: LanguageClient):
    document = Document(client, LAYOUT)
    (found,) = await document.diagnostics()
    assert found.code == "tmov-layout" and found.severity == lsp.DiagnosticSeverity.Error
    assert "✗ a5: tmov-layout" in await document.hover("tmov")
    assert "mat 64x64xf16 ND on a5" in await document.hover("%src")
    (action,) = [a for a in await document.actions(found) if a.title == "Make %src mat 64x64xf16 NZ"]
    document.apply(action.edit.changes[URI])
    assert await document.diagnostics() == []
    assert "✓ a5" in await document.hover("tmov")


@pytest.mark.asyncio
async def test_a_race_gets_its_flags(client: LanguageClient):
    document = Document(client, RACE)
    (found,) = await document.diagnostics()
    assert found.code == "race-raw"
    assert any("MTE2 writes %a" in r.message for r in found.related_information)
    action = next(a for a in await document.actions(found) if a.kind == lsp.CodeActionKind.QuickFix)
    document.apply(action.edit.changes[URI])
    assert await document.diagnostics() == []


@pytest.mark.asyncio
async def test_every_request_is_answered(client: LanguageClient):
    document = Document(client, RACE)
    await document.diagnostics()
    identifier, position = lsp.TextDocumentIdentifier(uri=URI), document.position("%a =")
    whole = lsp.Range(lsp.Position(0, 0), lsp.Position(99, 0))
    completion = lsp.CompletionParams(identifier, lsp.Position(document.position("pto.tadd").line, 4))
    items = (await client.text_document_completion_async(completion)).items
    assert any(item.label == "pto.tadd" for item in items)
    definition = await client.text_document_definition_async(lsp.DefinitionParams(identifier, position))
    assert definition.range.start == position
    context = lsp.ReferenceContext(include_declaration=True)
    references = await client.text_document_references_async(lsp.ReferenceParams(context, identifier, position))
    assert len(references) == 4
    highlights = await client.text_document_document_highlight_async(lsp.DocumentHighlightParams(identifier, position))
    assert len(highlights) == 4
    symbols = await client.text_document_document_symbol_async(lsp.DocumentSymbolParams(identifier))
    assert [s.name for s in symbols] == ["@twice"]
    tokens = await client.text_document_semantic_tokens_full_async(lsp.SemanticTokensParams(identifier))
    assert len(tokens.data) % 5 == 0 and len(tokens.data) > 100
    delta = lsp.SemanticTokensDeltaParams(identifier, tokens.result_id)
    assert len((await client.text_document_semantic_tokens_full_delta_async(delta)).edits) == 0
    assert await client.text_document_inlay_hint_async(lsp.InlayHintParams(identifier, whole)) is not None
    options = lsp.FormattingOptions(tab_size=2, insert_spaces=True)
    edits = await client.text_document_formatting_async(lsp.DocumentFormattingParams(identifier, options))
    assert not edits
    rename = lsp.RenameParams(identifier, position, new_name="input")
    document.apply((await client.text_document_rename_async(rename)).changes[URI])
    assert document.text.count("%input") == 4
