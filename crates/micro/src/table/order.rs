//! Rows: order inside a vecscope, and names without a meaning (micro/model.md 8, memory.md 7a and 9).

use super::Stands;
use super::words::*;

/// The rows of this family.
pub(super) const ROWS: &[Row] = &[
    Row {
        name: "mem_bar",
        words: &[WordList {
            key: "kind",
            words: &[
                "VV_ALL", "VST_VLD", "VLD_VST", "VST_VST", "VS_ALL", "VST_LD", "VLD_ST", "VST_ST", "SV_ALL", "ST_VLD",
                "LD_VST", "ST_VST", "SS_ALL", "ST_LD", "LD_ST", "ST_ST",
            ],
            is_attribute: false,
            is_required: true,
        }],
        text: "pto.mem_bar \"VST_VLD\"",
        summary: "Orders accesses before it and after it, of the classes that it names.",
        formula: "a before b, for a of its first class earlier and b of its second class later in the vecscope",
        rules: &["kind"],
        sem: Sem::Bar,
        ..Row::VECTOR
    },
    Row {
        name: "vsld",
        aliases: &[
            "vsst",
            "vsta",
            "vstu",
            "pld",
            "pst",
            "sprsti",
            "sprsts",
            "membar",
            "plt",
            "vmi",
            "set_cross_core",
            "wait_flag_dev",
            "wait_cross_core",
            "copy_gm_to_cbuf_multi_nd2nz",
            "copy_gm_to_cbuf_multi_dn2nz",
            "set_mte2_nz_para",
            "set_pad_val_outtol1",
            "copy_cbuf_to_bt",
            "copy_cbuf_to_fbuf",
            "load_cbuf_to_ca_mx",
            "load_cbuf_to_cb_mx",
            "load_cbuf_to_ca_s4",
            "load_cbuf_to_cb_s4",
            "create_cbuf_matrix",
            "copy_matrix_cc_to_gm",
            "copy_matrix_cc_to_cbuf",
            "copy_matrix_cc_to_ub",
            "mad_raw",
            "mad_bias_raw",
            "mad_mx_raw",
            "mad_mx_bias_raw",
            "set_loop3_para",
            "set_channel_para",
            "set_quant_pre",
            "set_relu_alpha",
            "set_fix_clip_relu",
            "set_fpc",
            "set_store_atomic_cfg",
        ],
        text: "pto.vsld …",
        summary: "A known name without a text that rows give: read and printed, not run.",
        formula: "none",
        rules: &["=not-executable"],
        sem: Sem::Unknown("it is a packed hardware word, or no public text gives its operands"),
        stands: Stands::Anywhere,
        ..Row::VECTOR
    },
];
