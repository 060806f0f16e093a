"""A tree in each kind of treebank file, made up, and the same in brackets after the usual cleaning."""

PIECES = {
    "ptb": (
        "( (S \n    (NP-SBJ-1 (PRP She) )\n    (VP (VBZ seems) (S (NP (-NONE- *-1) ) (VP (VB read) )))))\n",
        "(TOP (S (NP (PRP She)) (VP (VBZ seems) (S (VP (VB read))))))",
    ),
    "spmrl": (
        "(VROOT (SENT##x=y## (NP-SUJ (DET##g=m|n=s## Le) (NC##g=m## chat)) (## dort) (PONCT##_## .)))\n",
        "(TOP (SENT (NP (DET Le) (NC chat)) (## dort) (PONCT .)))",
    ),
    "ctb": (
        "<DOC>\n<DOCID> 7 </DOCID>\n<HEADER>\nno tree (at all\n</HEADER>\n<BODY>\n<S ID=1>\n"
        "( (IP-HLN (NP-SBJ (NN 猫)) \n  (VP (-NONE- *pro*) (VV 睡觉))) )\n</S>\n</BODY>\n</DOC>\n",
        "(TOP (IP (NP (NN 猫)) (VP (VV 睡觉))))",
    ),
    "historical": (
        "( (METADATA (AUTHOR x)) (IP-MAT (CODE <x>) (LB |) (COMMENT {x}) (NP-SBJ *con*) (VBD-1 saw) (META (X y))) "
        "(ID A,1))",
        "(TOP (IP (VBD saw)))",
    ),
    "icepahc": ("( (IP-MAT (PRO-N hún-hún) (VBPI les-lesa) (. .-.)))", "(TOP (IP (PRO-N hún) (VBPI les) (. .)))"),
    "farpahc": ("( (IP-MAT (PRO-N hon) (VBPI les-ur) (. ;-;)))", "(TOP (IP (PRO-N hon) (VBPI les-ur) (. ;)))"),
    "keyaki": ("( (IP-MAT (NP;*SBJ* (N 猫)) (NP-OB1 *pro*) (VB 寝る)) (ID 1;JP))", "(TOP (IP (NP (N 猫)) (VB 寝る)))"),
    "oncoj": (
        "( (multi-sentence (0#x *) (N (L090 (ADJ-STM (L1 (PHON taka))) (N (L2 (LOG pama)))))) (ID A.1))",
        "(TOP (multi (N (ADJ-STM taka) (N pama))))",
    ),
    "cess": (
        "(\n  (S.F.C\n    (sn.e-SUJ *0*)\n    (S*\n (grup.verb (v duerme dormir)))\n    (Fpa ( ()\n    (Fpt ) ))))\n",
        "(TOP (S (S (grup (v duerme))) (Fpa -LRB-) (Fpt -RRB-)))",
    ),
    "craft": ("( (NP (NN 5 kb) (NN piece)) )", "(TOP (NP (NN 5_kb) (NN piece)))"),
    "floresta": (
        "(STA+fcl (SUBJ+np- (>N+art o) \n (H+n gato)) ({) (P+v-fin dorme) (}) (.))",
        "(TOP (fcl (np (art o) (n gato)) (-LRB- -LRB-) (v-fin dorme) (-RRB- -RRB-) (. .)))",
    ),
    "sinica": (
        "#1:1.[1] S(agent:NP(property:N‧的(head:Nh:我|Head:DE:的)|Head:Na:貓)|Head:VA:睡)#。(PERIODCATEGORY)\n",
        "(TOP (S (NP (N‧的 (Nh 我) (DE 的)) (Na 貓)) (VA 睡)))",
    ),
    "turkish": ("( (S (NP {tag=a+N}{turkish=Kedi}{english=cat}) (. {turkish=(}) ) )", "(TOP (S (NP Kedi) (. -LRB-)))"),
}
